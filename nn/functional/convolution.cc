#include "nn/functional/convolution.h"

#include "client/fail.h"
#include "client/ops/sampling.h"

namespace burn::module {
namespace {

using client::Value;

// Selects a function's name by the rank of its tensors: [n, c, w], [n, c, h, w] or [n, c, d, h, w].
template <int D>
constexpr const char* called(const char* of_3, const char* of_4, const char* of_5) {
  return D == 3 ? of_3 : D == 4 ? of_4 : of_5;
}

template <int D>
const Value* given(const std::optional<Tensor<D>>& x) {
  return x ? &x->value() : nullptr;
}

template <std::size_t N>
ir::Dims dims(const std::array<std::int64_t, N>& list) {
  return ir::Dims{std::span<const std::int64_t>{list}};
}

template <int D, std::size_t N>
Tensor<D> conv(const Tensor<D>& x, const Tensor<D>& weight, const std::optional<Tensor<1>>& bias,
               const PaddedConvOptions<N>& o, const Loc& where) {
  const ir::Conv op{dims(o.stride), dims(o.padding), dims(o.padding_end.value_or(o.padding)), dims(o.dilation),
                    o.groups};
  return Tensor<D>{
      client::conv(x.value(), weight.value(), given(bias), op, at(where, called<D>("conv1d", "conv2d", "conv3d")))};
}

template <int D, std::size_t N>
Tensor<D> conv_transpose(const Tensor<D>& x, const Tensor<D>& weight, const std::optional<Tensor<1>>& bias,
                         const ConvTransposeOptions<N>& o, const Loc& where) {
  const ir::Conv op{dims(o.stride), dims(o.padding), dims(o.padding), dims(o.dilation), o.groups};
  return Tensor<D>{
      client::conv_transpose(x.value(), weight.value(), given(bias), op, dims(o.padding_out),
                             at(where, called<D>("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")))};
}

}  // namespace

Tensor<3> conv1d(const Tensor<3>& x, const Tensor<3>& weight, const std::optional<Tensor<1>>& bias,
                 const PaddedConvOptions<1>& options, Loc where) {
  return conv(x, weight, bias, options, where);
}
Tensor<4> conv2d(const Tensor<4>& x, const Tensor<4>& weight, const std::optional<Tensor<1>>& bias,
                 const PaddedConvOptions<2>& options, Loc where) {
  return conv(x, weight, bias, options, where);
}
Tensor<5> conv3d(const Tensor<5>& x, const Tensor<5>& weight, const std::optional<Tensor<1>>& bias,
                 const PaddedConvOptions<3>& options, Loc where) {
  return conv(x, weight, bias, options, where);
}

Tensor<4> conv2d_weight_backward(const Tensor<4>& x, const Tensor<4>& weight, const Tensor<4>& output_grad,
                                 const ConvOptions<2>& o, Loc where) {
  client::fail_if_empty(weight.value(), "conv2d_weight_backward: the weight", at(where, "conv2d_weight_backward"));
  const ir::Dims kernel{weight.value().dim(2), weight.value().dim(3)};
  return Tensor<4>{client::apply(
      ir::ConvWeightGrad{dims(o.stride), dims(o.padding), dims(o.padding), dims(o.dilation), kernel, o.groups},
      x.value(), output_grad.value(), at(where, "conv2d_weight_backward"))};
}

Tensor<3> conv_transpose1d(const Tensor<3>& x, const Tensor<3>& weight, const std::optional<Tensor<1>>& bias,
                           const ConvTransposeOptions<1>& options, Loc where) {
  return conv_transpose(x, weight, bias, options, where);
}
Tensor<4> conv_transpose2d(const Tensor<4>& x, const Tensor<4>& weight, const std::optional<Tensor<1>>& bias,
                           const ConvTransposeOptions<2>& options, Loc where) {
  return conv_transpose(x, weight, bias, options, where);
}
Tensor<5> conv_transpose3d(const Tensor<5>& x, const Tensor<5>& weight, const std::optional<Tensor<1>>& bias,
                           const ConvTransposeOptions<3>& options, Loc where) {
  return conv_transpose(x, weight, bias, options, where);
}

Tensor<4> deform_conv2d(const Tensor<4>& x, const Tensor<4>& offset, const Tensor<4>& weight,
                        const std::optional<Tensor<4>>& mask, const std::optional<Tensor<1>>& bias,
                        const DeformConvOptions& options, Loc where) {
  return Tensor<4>{client::deform_conv2d(x.value(), offset.value(), weight.value(), given(mask), given(bias), options,
                                         at(where, "deform_conv2d"))};
}

}  // namespace burn::module
