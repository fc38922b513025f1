// The Vulkan backend: a device with a driver for Vulkan 1.3.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/vulkan/device/device.h"

namespace burn::backends::vulkan {

// Errors: FAILED_PRECONDITION with what is missing; NOT_FOUND with a list of the devices.
Result<std::unique_ptr<Backend>> open_vulkan_backend(int index);
Result<std::unique_ptr<Backend>> open_vulkan_backend(int index, const DeviceLimits& limits);

// Describes Vulkan on this machine and what is missing, one fact per line.
std::vector<std::string> report();

}  // namespace burn::backends::vulkan
