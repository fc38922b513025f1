// module::max_pool2d and its family. An include of nn/functional.h.
//
// Padding is the same at both ends: it is never the maximum, and counts as zeros in a mean unless count_include_pad is
// false. ceil_mode keeps a last partial window that starts inside the input or the padding before it. An index is the
// element's position in the flattened spatial dims of its own channel: the first of equals, NaN before any number.
// Errors: a window that does not fit the padded input, padding above half of it, with the numbers.
#pragma once

#include <array>
#include <utility>

#include "client/tensor/tensor.h"

namespace burn::module {

template <std::size_t N>
using Sizes = std::array<std::int64_t, N>;

Tensor<3> max_pool1d(const Tensor<3>& x, std::int64_t kernel_size, std::int64_t stride, std::int64_t padding = 0,
                     std::int64_t dilation = 1, bool ceil_mode = false, Loc where = Loc::current());
Tensor<4> max_pool2d(const Tensor<4>& x, const Sizes<2>& kernel_size, const Sizes<2>& stride,
                     const Sizes<2>& padding = {0, 0}, const Sizes<2>& dilation = {1, 1}, bool ceil_mode = false,
                     Loc where = Loc::current());
Tensor<5> max_pool3d(const Tensor<5>& x, const Sizes<3>& kernel_size, const Sizes<3>& stride,
                     const Sizes<3>& padding = {0, 0, 0}, const Sizes<3>& dilation = {1, 1, 1}, bool ceil_mode = false,
                     Loc where = Loc::current());
std::pair<Tensor<3>, Tensor<3, Int>> max_pool1d_with_indices(const Tensor<3>& x, std::int64_t kernel_size,
                                                             std::int64_t stride, std::int64_t padding = 0,
                                                             std::int64_t dilation = 1, bool ceil_mode = false,
                                                             Loc where = Loc::current());
std::pair<Tensor<4>, Tensor<4, Int>> max_pool2d_with_indices(const Tensor<4>& x, const Sizes<2>& kernel_size,
                                                             const Sizes<2>& stride, const Sizes<2>& padding = {0, 0},
                                                             const Sizes<2>& dilation = {1, 1}, bool ceil_mode = false,
                                                             Loc where = Loc::current());
std::pair<Tensor<5>, Tensor<5, Int>> max_pool3d_with_indices(const Tensor<5>& x, const Sizes<3>& kernel_size,
                                                             const Sizes<3>& stride,
                                                             const Sizes<3>& padding = {0, 0, 0},
                                                             const Sizes<3>& dilation = {1, 1, 1},
                                                             bool ceil_mode = false, Loc where = Loc::current());
// The gradient of max_pool2d with respect to x, of which only the shape is used. The settings are only checked; the
// gradient is placed by the indices.
Tensor<4> max_pool2d_with_indices_backward(const Tensor<4>& x, const Sizes<2>& kernel_size, const Sizes<2>& stride,
                                           const Sizes<2>& padding, const Sizes<2>& dilation, bool ceil_mode,
                                           const Tensor<4>& output_grad, const Tensor<4, Int>& indices,
                                           Loc where = Loc::current());

Tensor<3> avg_pool1d(const Tensor<3>& x, std::int64_t kernel_size, std::int64_t stride, std::int64_t padding = 0,
                     bool count_include_pad = true, bool ceil_mode = false, Loc where = Loc::current());
Tensor<4> avg_pool2d(const Tensor<4>& x, const Sizes<2>& kernel_size, const Sizes<2>& stride,
                     const Sizes<2>& padding = {0, 0}, bool count_include_pad = true, bool ceil_mode = false,
                     Loc where = Loc::current());
Tensor<5> avg_pool3d(const Tensor<5>& x, const Sizes<3>& kernel_size, const Sizes<3>& stride,
                     const Sizes<3>& padding = {0, 0, 0}, bool count_include_pad = true, bool ceil_mode = false,
                     Loc where = Loc::current());
// The gradient of avg_pool2d with respect to x, of which only the shape is used.
Tensor<4> avg_pool2d_backward(const Tensor<4>& x, const Tensor<4>& output_grad, const Sizes<2>& kernel_size,
                              const Sizes<2>& stride, const Sizes<2>& padding = {0, 0}, bool count_include_pad = true,
                              bool ceil_mode = false, Loc where = Loc::current());

// Pools to a size: output i is computed from the elements floor(i in / out) .. ceil((i + 1) in / out).
Tensor<3> adaptive_avg_pool1d(const Tensor<3>& x, std::int64_t output_size, Loc where = Loc::current());
Tensor<4> adaptive_avg_pool2d(const Tensor<4>& x, const Sizes<2>& output_size, Loc where = Loc::current());
Tensor<5> adaptive_avg_pool3d(const Tensor<5>& x, const Sizes<3>& output_size, Loc where = Loc::current());
Tensor<3> adaptive_max_pool1d(const Tensor<3>& x, std::int64_t output_size, Loc where = Loc::current());
Tensor<4> adaptive_max_pool2d(const Tensor<4>& x, const Sizes<2>& output_size, Loc where = Loc::current());
Tensor<5> adaptive_max_pool3d(const Tensor<5>& x, const Sizes<3>& output_size, Loc where = Loc::current());
std::pair<Tensor<3>, Tensor<3, Int>> adaptive_max_pool1d_with_indices(const Tensor<3>& x, std::int64_t output_size,
                                                                      Loc where = Loc::current());
std::pair<Tensor<4>, Tensor<4, Int>> adaptive_max_pool2d_with_indices(const Tensor<4>& x, const Sizes<2>& output_size,
                                                                      Loc where = Loc::current());
std::pair<Tensor<5>, Tensor<5, Int>> adaptive_max_pool3d_with_indices(const Tensor<5>& x, const Sizes<3>& output_size,
                                                                      Loc where = Loc::current());

}  // namespace burn::module
