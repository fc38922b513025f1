// Sampling of images between their pixels, and windows of images as columns. Composites of gathers, except
// interpolate().
#pragma once

#include <cstdint>

#include "client/ops/ops.h"
#include "client/ops/sampling_options.h"

namespace burn::client {

// Resizes the last one or two dims of [n, c, ...]. Errors: sizes below 1; another rank.
Value interpolate(const Value& x, const ir::Dims& output_size, const InterpolateOptions& options, const Site& site);

// Samples `x` [n, c, h, w] at the coordinates `grid` [n, h_out, w_out, 2] (x, then y; -1 and 1 are the image's
// borders): [n, c, h_out, w_out]. Differentiable in both; in mode nearest the gradient of the grid is 0.
Value grid_sample_2d(const Value& x, const Value& grid, const GridSampleOptions& options, const Site& site);

// The source coordinates of an image's pixels under an affine map: [batch, 2, 3] -> [batch, height, width, 2] (x, y).
// The corner pixels are at -1 and 1; the one pixel of a dim of size 1 is at 0.
Value affine_grid_2d(const Value& transform, const ir::Dims& dims, const Site& site);  // dims: [batch, c, h, w]

// The windows of [n, c, h, w] as columns: [n, c * kh * kw, windows], each column in row-major order; 0 outside of the
// image.
Value unfold4d(const Value& x, const ir::Dims& kernel, const UnfoldOptions& options, const Site& site);
// The adjoint: [n, c * kh * kw, windows] -> [n, c, h, w], overlaps summed.
Value fold4d(const Value& x, const ir::Dims& output_size, const ir::Dims& kernel, const UnfoldOptions& options,
             const Site& site);

// Deformable convolution (Dai et al., arXiv:1703.06211; with a mask Zhu et al., arXiv:1811.11168): each tap of the
// kernel reads the image, interpolated, at its usual position plus `offset`; 0 outside of the image. x: [n, c_in, h,
// w], offset: [n, offset_groups * kh * kw * 2, h_out, w_out] (y, then x, per tap), weight: [c_out, c_in /
// weight_groups, kh, kw], mask: [n, offset_groups * kh * kw, h_out, w_out], bias: [c_out] -> [n, c_out, h_out, w_out].
Value deform_conv2d(const Value& x, const Value& offset, const Value& weight, const Value* mask, const Value* bias,
                    const DeformConvOptions& options, const Site& site);

}  // namespace burn::client
