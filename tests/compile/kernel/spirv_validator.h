// SPIR-V of kernels, checked by spirv-val where it is installed.
#pragma once

#include <string>
#include <vector>

#include "compile/codegen/kernel/device_facts.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::testing {

bool has_spirv_val();

// What spirv-val says of the kernel's words for Vulkan 1.3; empty: nothing. Requires: has_spirv_val().
std::string validate(const compile::kernel::Kernel& kernel, const compile::DeviceFacts& facts);

}  // namespace burn::testing
