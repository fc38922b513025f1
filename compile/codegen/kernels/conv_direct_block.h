// What the kernels of direct convolutions have in common.
#pragma once

#include <vector>

#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {

struct DirectBlock {
  static constexpr int kThreads = 128;

  // Whether the device is one for them, and the dtype of the result.
  static bool is_for(const DeviceFacts& facts, const View& result) {
    return ir::compute_dtype(result.dtype) == ir::DType::f32 && !facts.has_slow_barriers && !facts.has_limited_loops &&
           facts.max_threads >= kThreads;
  }

  static std::vector<kernel::Variable> zeros(kernel::Writer& writer, int count) {
    std::vector<kernel::Variable> sums;
    sums.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) sums.push_back(writer.variable(writer.constant(ir::DType::f32, 0.0)));
    return sums;
  }
};

}  // namespace burn::compile::kernels
