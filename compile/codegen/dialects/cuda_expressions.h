// Numbers and arithmetic of the kernel language as expressions of CUDA C++ (cuda_kernel.h).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "compile/codegen/kernel/kernel.h"

namespace burn::compile {

// A constant of a type, by its bits. Infinities and NaN keep theirs.
std::string cuda_literal(ir::DType type, std::uint64_t bits);

// What an instruction computes that has a value and is neither memory nor control flow. `operand`: the name of its
// operand `k`.
std::string cuda_expression(const kernel::Instruction& instruction,
                            const std::function<std::string(std::size_t)>& operand);

}  // namespace burn::compile
