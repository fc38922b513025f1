// module::conv1d and its family. An include of nn/functional.h.
#pragma once

#include <array>
#include <optional>

#include "client/ops/sampling_options.h"
#include "client/tensor/tensor.h"

namespace burn {

namespace detail {
template <std::size_t N>
constexpr std::array<std::int64_t, N> all_of(std::int64_t number) {
  std::array<std::int64_t, N> list{};
  list.fill(number);
  return list;
}
}  // namespace detail

// N: the number of spatial dims. Lists have one entry for each.
template <std::size_t N>
struct ConvOptions {
  std::array<std::int64_t, N> stride = detail::all_of<N>(1), padding{}, dilation = detail::all_of<N>(1);
  std::int64_t groups = 1;
};

// ConvOptions whose padding may differ at the end of each dim.
template <std::size_t N>
struct PaddedConvOptions {
  std::array<std::int64_t, N> stride = detail::all_of<N>(1), padding{}, dilation = detail::all_of<N>(1);
  std::int64_t groups = 1;
  std::optional<std::array<std::int64_t, N>> padding_end{};  // none: as `padding`

  PaddedConvOptions() = default;
  PaddedConvOptions(const ConvOptions<N>& o)  // NOLINT: implicit, a special case
      : stride(o.stride), padding(o.padding), dilation(o.dilation), groups(o.groups) {}
  // Pads each dim with `begin` zeros before the first element and `end` after the last.
  static PaddedConvOptions asymmetric(const std::array<std::int64_t, N>& begin, const std::array<std::int64_t, N>& end,
                                      const ConvOptions<N>& others = {}) {
    PaddedConvOptions options{others};
    options.padding = begin;
    options.padding_end = end;
    return options;
  }
};

template <std::size_t N>
struct ConvTransposeOptions {
  std::array<std::int64_t, N> stride = detail::all_of<N>(1), padding{}, padding_out{}, dilation = detail::all_of<N>(1);
  std::int64_t groups = 1;
};

namespace module {

// Cross-correlation. Shapes: x [n, c_in, in...], weight [c_out, c_in / groups, kernel...], bias [c_out] -> [n, c_out,
// out...] with out = (in + padding - dilation (kernel - 1) - 1) / stride + 1, rounded down. Errors: channels that the
// groups do not divide, a kernel that does not fit; the message has all the numbers.
Tensor<3> conv1d(const Tensor<3>& x, const Tensor<3>& weight, const std::optional<Tensor<1>>& bias = std::nullopt,
                 const PaddedConvOptions<1>& options = {}, Loc where = Loc::current());
Tensor<4> conv2d(const Tensor<4>& x, const Tensor<4>& weight, const std::optional<Tensor<1>>& bias = std::nullopt,
                 const PaddedConvOptions<2>& options = {}, Loc where = Loc::current());
Tensor<5> conv3d(const Tensor<5>& x, const Tensor<5>& weight, const std::optional<Tensor<1>>& bias = std::nullopt,
                 const PaddedConvOptions<3>& options = {}, Loc where = Loc::current());
// The gradient of conv2d with respect to its weight. Only the shape of `weight` is used.
Tensor<4> conv2d_weight_backward(const Tensor<4>& x, const Tensor<4>& weight, const Tensor<4>& output_grad,
                                 const ConvOptions<2>& options = {}, Loc where = Loc::current());

// The adjoint of a convolution in its input. Shapes: x [n, c_in, in...], weight [c_in, c_out / groups, kernel...], bias
// [c_out] -> [n, c_out, out...] with out = (in - 1) stride - 2 padding + dilation (kernel - 1) + padding_out + 1.
Tensor<3> conv_transpose1d(const Tensor<3>& x, const Tensor<3>& weight,
                           const std::optional<Tensor<1>>& bias = std::nullopt,
                           const ConvTransposeOptions<1>& options = {}, Loc where = Loc::current());
Tensor<4> conv_transpose2d(const Tensor<4>& x, const Tensor<4>& weight,
                           const std::optional<Tensor<1>>& bias = std::nullopt,
                           const ConvTransposeOptions<2>& options = {}, Loc where = Loc::current());
Tensor<5> conv_transpose3d(const Tensor<5>& x, const Tensor<5>& weight,
                           const std::optional<Tensor<1>>& bias = std::nullopt,
                           const ConvTransposeOptions<3>& options = {}, Loc where = Loc::current());

// Each tap of the kernel reads the image `offset` away from where conv2d would, interpolating between pixels, and reads
// 0 outside (Dai et al., arXiv:1703.06211; with a mask, arXiv:1811.11168). Shapes: x [n, c_in, h, w], offset [n,
// offset_groups *
// kh * kw * 2, h_out, w_out] (y, then x, of each tap), weight [c_out, c_in / weight_groups, kh, kw], mask [n,
// offset_groups * kh * kw, h_out, w_out], bias [c_out] -> [n, c_out, h_out, w_out].
Tensor<4> deform_conv2d(const Tensor<4>& x, const Tensor<4>& offset, const Tensor<4>& weight,
                        const std::optional<Tensor<4>>& mask = std::nullopt,
                        const std::optional<Tensor<1>>& bias = std::nullopt, const DeformConvOptions& options = {},
                        Loc where = Loc::current());

}  // namespace module
}  // namespace burn
