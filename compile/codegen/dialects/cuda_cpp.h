// How a kernel is spelled in CUDA C++.
#pragma once

#include "ir/ops.h"

namespace burn::compile {

// The name of a dtype's storage type in kernels (kernels/types.h): "float", "half_t", "bool", "std::int64_t", ...
const char* storage_type(ir::DType dtype);
const char* compute_type(ir::DType dtype);  // of what arithmetic on it happens in: "float" for the 16-bit floats

// The name of a way to combine elements (ir/combine.h).
constexpr const char* combine_type(ir::ReduceFn fn) {
  switch (fn) {
    case ir::ReduceFn::sum:
      return "burn::ir::Sum";
    case ir::ReduceFn::prod:
      return "burn::ir::Prod";
    case ir::ReduceFn::max:
      return "burn::ir::Max";
    case ir::ReduceFn::min:
      return "burn::ir::Min";
  }
  return "";
}

}  // namespace burn::compile
