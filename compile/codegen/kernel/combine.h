// The ways of combining two elements that ir/semantics/combine.h has, over values.
#pragma once

#include "compile/codegen/kernel/writer.h"
#include "ir/enums.h"

namespace burn::compile::kernel {

Value identity(Writer& writer, ir::ReduceFn fn, ir::DType type);  // what a reduction begins from
Value combine(ir::ReduceFn fn, Value a, Value b);                 // of max and min, NaN wins

}  // namespace burn::compile::kernel
