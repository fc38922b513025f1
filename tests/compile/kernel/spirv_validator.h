// SPIR-V of kernels, checked as `spirv-val --target-env vulkan1.3` does it, where SPIRV-Tools are installed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compile/codegen/kernel/device_facts.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::testing {

using SpirvWords = std::vector<std::uint32_t>;

bool has_spirv_val();

// Returns the validator's errors for a Vulkan 1.3 module; empty if it is valid. Requires: has_spirv_val().
std::string validate(const SpirvWords& words);
std::string validate(const compile::kernel::Kernel& kernel, const compile::DeviceFacts& facts);

}  // namespace burn::testing
