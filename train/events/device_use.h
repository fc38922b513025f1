// The current memory and utilization of a training's device. Not an event: dashboards query it while the training runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace burn::train::events {

struct DeviceUse {
  std::uint64_t memory_in_use = 0, memory_limit = 0;  // bytes, of all programs that use the device
  std::optional<double> busy;                         // busy share of the time since the previous answer, 0 to 1
};

// "memory 3.25/79.10 GB, use 85 %", in units of 10^9 bytes.
std::string to_string(const DeviceUse& use);

// Returns the last known use, or std::nullopt if it is not known. Never waits; any thread may call it.
using DeviceUseNow = std::function<std::optional<DeviceUse>()>;

}  // namespace burn::train::events
