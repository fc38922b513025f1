// What the device of a training is doing now. No event: dashboards ask for it while the training runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace burn::train::events {

struct DeviceUse {
  std::uint64_t memory_in_use = 0, memory_limit = 0;  // bytes, of all programs that use the device
  std::optional<double> busy;                         // the share of the time since the answer before; 0 to 1
};

// "memory 3.25/79.10 GB, use 85 %", in units of 10^9 bytes.
std::string to_string(const DeviceUse& use);

// What was last known; nothing where it is not known. Never waits, may be called by any thread.
using DeviceUseNow = std::function<std::optional<DeviceUse>()>;

}  // namespace burn::train::events
