// Which operation of SPIR-V an instruction of the kernel language is, and those that are several.
#pragma once

#include "compile/codegen/dialects/spirv_module.h"
#include "compile/codegen/dialects/spirv_numbers.h"
#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::spirv {

// Of arithmetic and comparisons. `type`: of the operands.
Op operation(kernel::Code code, ir::DType type);
// Of the functions that GLSL.std.450 has: floor to abs.
Function function(kernel::Code code);

// Operations that take several instructions, as drivers differ in SPIR-V's own. Both return the result's id.

// a - a / b * b with the quotient cut towards zero: Vulkan leaves OpSRem undefined where an operand is below 0.
Id signed_remainder(Module& module, Id type, Id a, Id b);
// To the nearest whole number, ties to even, of f64: in Mesa's CPU driver RoundEven rounds ties of f64 towards zero
// where the processor has no AVX-512. Above 2^52 an f64 is whole, and adding 2^52 rounds what is below.
Id round_even_f64(Module& module, Id x);

}  // namespace burn::compile::spirv
