// module::interpolate, unfold4d and fold4d; grid::affine_grid_2d. An include of nn/functional.h.
#pragma once

#include <array>

#include "client/ops/sampling_options.h"
#include "client/tensor/tensor.h"

namespace burn::module {

// Resizes images (or lines). Shapes: [n, c, h, w] -> [n, c, output_size...]. Errors: sizes below 1.
Tensor<4> interpolate(const Tensor<4>& x, const std::array<std::int64_t, 2>& output_size,
                      const InterpolateOptions& options = {}, Loc where = Loc::current());
Tensor<3> interpolate1d(const Tensor<3>& x, std::int64_t output_size, const InterpolateOptions& options = {},
                        Loc where = Loc::current());

// Copies each window into a column; elements outside the image are zeros. Shapes: [n, c, h, w] -> [n, c * kh * kw,
// windows]. Errors: a window that does not fit the padded image.
Tensor<3> unfold4d(const Tensor<4>& x, const std::array<std::int64_t, 2>& kernel_size,
                   const UnfoldOptions& options = {}, Loc where = Loc::current());
// The adjoint: overlaps are summed. Shapes: [n, c * kh * kw, windows] -> [n, c, output_size...]. Errors: other numbers
// of rows or windows than an image of that size has.
Tensor<4> fold4d(const Tensor<3>& x, const std::array<std::int64_t, 2>& output_size,
                 const std::array<std::int64_t, 2>& kernel_size, const UnfoldOptions& options = {},
                 Loc where = Loc::current());

}  // namespace burn::module

namespace burn::grid {

// The sampling grid of one affine map per image, for grid_sample_2d with align_corners: corners are -1 and 1.
// Shapes: [batch, 2, 3] -> [batch, height, width, 2] (x, y); dims: [batch, channels, height, width].
Tensor<4> affine_grid_2d(const Tensor<3>& transform, const std::array<std::int64_t, 4>& dims,
                         Loc where = Loc::current());

}  // namespace burn::grid
