// How much of a device's memory is free. A backend that can say it also derives from KnowsFreeMemory; whatever shows
// the number finds that by dynamic_cast from its Backend.
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
  // Bytes that no program has taken, as the driver or the system says; nothing: it does not say. From any thread. The
  // driver may take a while for the answer when the device is at work.
  virtual std::optional<std::uint64_t> free_memory() const = 0;
};

}  // namespace burn::backends
