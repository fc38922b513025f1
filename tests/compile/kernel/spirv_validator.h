// SPIR-V of kernels, checked by spirv-val where it is installed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace burn::testing {

using SpirvWords = std::vector<std::uint32_t>;

bool has_spirv_val();

// What spirv-val says of each module for Vulkan 1.3; empty: nothing. Requires: has_spirv_val().
std::vector<std::string> validate(std::span<const SpirvWords> modules);

}  // namespace burn::testing
