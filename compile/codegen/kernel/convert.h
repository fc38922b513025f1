// Conversions between dtypes, as ir/semantics/convert.h and base/half.h have them, over values.
#pragma once

#include "compile/codegen/kernel/value.h"

namespace burn::compile::kernel {

// Between what lies in memory, a value of memory_type(dtype), and the compute type.
Value from_memory(ir::DType dtype, Value raw);
Value to_memory(ir::DType dtype, Value value);

// What an ir::Cast to a dtype makes of a value in its compute type: floats to whole numbers toward zero, saturating,
// NaN to 0; to bool as != 0; whole numbers modulo 2^n. Gives the compute type; rounded() does the rest.
Value cast(ir::DType dtype, Value value);

// To what the dtype can hold, in its compute type: the 16-bit floats to nearest even, all others as they are.
Value rounded(ir::DType dtype, Value value);

Value is_nan(Value x);

}  // namespace burn::compile::kernel
