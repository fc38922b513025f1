// The names under which kernels know ways of combining elements (ir/combine.h).
#pragma once

#include "ir/ops.h"

namespace burn::backends::cuda {

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

}  // namespace burn::backends::cuda
