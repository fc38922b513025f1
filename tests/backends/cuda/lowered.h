// Lowers programs without a GPU, and searches the text of their kernels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "backends/cuda/lower/target.h"
#include "compile/rewrite/simplify.h"

namespace burn::testing {

namespace cuda = backends::cuda;

// Ops that want a library's advice cannot be.
inline Result<cuda::Lowered> lower(cuda::Device& device, const ir::Program& program, bool fusion,
                                   std::int64_t min_summed_rows = 0) {
  const auto simple = compile::simplify(program, true);
  compile::PlanOptions options;
  options.fusion = fusion;
  options.buckets = true;
  options.limits.min_summed_rows = min_summed_rows;
  return cuda::lower_program(device, simple, compile::make_plan(simple, options));
}

// Whether the source of some kernel contains the text.
inline bool has(const cuda::Lowered& lowered, std::string_view text) {
  return std::ranges::any_of(lowered.sources,
                             [&](const auto& source) { return source.text.find(text) != std::string::npos; });
}

}  // namespace burn::testing
