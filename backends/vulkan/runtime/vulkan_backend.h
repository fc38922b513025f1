// The Vulkan backend: a device that a driver of Vulkan 1.3 offers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "backends/vulkan/device/device.h"

namespace burn::backends::vulkan {

// Errors: FAILED_PRECONDITION with what is missing; NOT_FOUND with what there is.
Result<std::unique_ptr<Backend>> open_vulkan_backend(int index);
Result<std::unique_ptr<Backend>> open_vulkan_backend(int index, const DeviceLimits& limits);

// What there is of Vulkan on this machine and what is missing, a fact a line.
std::vector<std::string> report();

}  // namespace burn::backends::vulkan
