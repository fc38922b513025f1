#include "train/events/device_use.h"

#include <fmt/format.h>

namespace burn::train::events {

std::string to_string(const DeviceUse& use) {
  constexpr double kGigabyte = 1e9;
  auto text = fmt::format("memory {:.2f}/{:.2f} GB", static_cast<double>(use.memory_in_use) / kGigabyte,
                          static_cast<double>(use.memory_limit) / kGigabyte);
  if (use.busy) text += fmt::format(", use {:.0f} %", 100 * *use.busy);
  return text;
}

}  // namespace burn::train::events
