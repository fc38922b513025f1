// The windows of a pooling op along each spatial dim, clipped to the input, always as three dims.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/status.h"
#include "ir/ops.h"

namespace burn::backends::cpu {

// Input positions begin, begin + step, ... below end; never empty.
struct Window {
  std::int64_t begin = 0, end = 1, step = 1;
  std::int64_t divisor = 1;  // of a mean: this dim's factor
};

// Windows by output position, for [n * c, depth, height, width].
struct Windows {
  std::array<std::vector<Window>, 3> by_dim;
  std::array<std::int64_t, 3> input{1, 1, 1};

  std::int64_t outputs(int dim) const {
    return static_cast<std::int64_t>(by_dim[static_cast<std::size_t>(dim)].size());
  }
  const Window& at(int dim, std::int64_t i) const {
    return by_dim[static_cast<std::size_t>(dim)][static_cast<std::size_t>(i)];
  }
  std::int64_t input_plane() const { return input[0] * input[1] * input[2]; }
  std::int64_t output_plane() const { return outputs(0) * outputs(1) * outputs(2); }
};

// `input` and `output`: [n, c, spatial...]. Errors: RESOURCE_EXHAUSTED for more windows than a model needs.
Result<Windows> sliding_windows(const ir::AvgPool& op, const ir::Shape& input, const ir::Shape& output);
Result<Windows> sliding_windows(const ir::MaxPool& op, const ir::Shape& input, const ir::Shape& output);
Result<Windows> adaptive_windows(const ir::Shape& input, const ir::Shape& output);

}  // namespace burn::backends::cpu
