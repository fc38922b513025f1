// How much of a device's memory is free. A backend that can tell also derives from KnowsFreeMemory; code that reports
// the number finds the interface by dynamic_cast from the Backend.
#pragma once

#include <cstdint>
#include <optional>

namespace burn::backends {

class KnowsFreeMemory {
 public:
  KnowsFreeMemory() = default;
  KnowsFreeMemory(const KnowsFreeMemory&) = delete;
  KnowsFreeMemory& operator=(const KnowsFreeMemory&) = delete;
  virtual ~KnowsFreeMemory() = default;
  // Bytes that no program has allocated, as reported by the driver or the system; std::nullopt if it does not report
  // them. May be called from any thread. The driver may take a while to answer when the device is busy.
  virtual std::optional<std::uint64_t> free_memory() const = 0;
};

}  // namespace burn::backends
