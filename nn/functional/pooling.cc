#include "nn/functional/pooling.h"

#include "client/fail.h"

namespace burn::module {
namespace {

template <std::size_t N>
ir::Dims dims(const Sizes<N>& list) {
  return ir::Dims{std::span<const std::int64_t>{list}};
}

// Selects a function's name by the rank of its tensors: [n, c, w], [n, c, h, w] or [n, c, d, h, w].
template <int D>
constexpr const char* called(const char* of_3, const char* of_4, const char* of_5) {
  return D == 3 ? of_3 : D == 4 ? of_4 : of_5;
}

template <int D>
std::pair<Tensor<D>, Tensor<D, Int>> pair_of(client::Indexed pooled) {
  return {Tensor<D>{std::move(pooled.values)}, Tensor<D, Int>{std::move(pooled.indices)}};
}

template <int D, std::size_t N>
std::pair<Tensor<D>, Tensor<D, Int>> max_pool(const Tensor<D>& x, const Sizes<N>& kernel, const Sizes<N>& stride,
                                              const Sizes<N>& padding, const Sizes<N>& dilation, bool ceil_mode,
                                              const char* op, const Loc& where) {
  return pair_of<D>(client::max_pool_with_indices(
      x.value(), {dims(kernel), dims(stride), dims(padding), dims(dilation), ceil_mode}, at(where, op)));
}

template <int D, std::size_t N>
Tensor<D> avg_pool(const Tensor<D>& x, const Sizes<N>& kernel, const Sizes<N>& stride, const Sizes<N>& padding,
                   bool count_include_pad, bool ceil_mode, const Loc& where) {
  return Tensor<D>{client::avg_pool(x.value(),
                                    {dims(kernel), dims(stride), dims(padding), count_include_pad, ceil_mode},
                                    at(where, called<D>("avg_pool1d", "avg_pool2d", "avg_pool3d")))};
}

template <int D, std::size_t N>
Tensor<D> adaptive_avg_pool(const Tensor<D>& x, const Sizes<N>& size, const Loc& where) {
  return Tensor<D>{client::adaptive_avg_pool(
      x.value(), dims(size),
      at(where, called<D>("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")))};
}

template <int D, std::size_t N>
std::pair<Tensor<D>, Tensor<D, Int>> adaptive_max_pool(const Tensor<D>& x, const Sizes<N>& size, const char* op,
                                                       const Loc& where) {
  return pair_of<D>(client::adaptive_max_pool(x.value(), dims(size), at(where, op)));
}

}  // namespace

std::pair<Tensor<3>, Tensor<3, Int>> max_pool1d_with_indices(const Tensor<3>& x, std::int64_t kernel_size,
                                                             std::int64_t stride, std::int64_t padding,
                                                             std::int64_t dilation, bool ceil_mode, Loc where) {
  return max_pool(x, Sizes<1>{kernel_size}, Sizes<1>{stride}, Sizes<1>{padding}, Sizes<1>{dilation}, ceil_mode,
                  "max_pool1d_with_indices", where);
}
std::pair<Tensor<4>, Tensor<4, Int>> max_pool2d_with_indices(const Tensor<4>& x, const Sizes<2>& kernel_size,
                                                             const Sizes<2>& stride, const Sizes<2>& padding,
                                                             const Sizes<2>& dilation, bool ceil_mode, Loc where) {
  return max_pool(x, kernel_size, stride, padding, dilation, ceil_mode, "max_pool2d_with_indices", where);
}
std::pair<Tensor<5>, Tensor<5, Int>> max_pool3d_with_indices(const Tensor<5>& x, const Sizes<3>& kernel_size,
                                                             const Sizes<3>& stride, const Sizes<3>& padding,
                                                             const Sizes<3>& dilation, bool ceil_mode, Loc where) {
  return max_pool(x, kernel_size, stride, padding, dilation, ceil_mode, "max_pool3d_with_indices", where);
}

Tensor<3> max_pool1d(const Tensor<3>& x, std::int64_t kernel_size, std::int64_t stride, std::int64_t padding,
                     std::int64_t dilation, bool ceil_mode, Loc where) {
  return max_pool(x, Sizes<1>{kernel_size}, Sizes<1>{stride}, Sizes<1>{padding}, Sizes<1>{dilation}, ceil_mode,
                  "max_pool1d", where)
      .first;
}
Tensor<4> max_pool2d(const Tensor<4>& x, const Sizes<2>& kernel_size, const Sizes<2>& stride, const Sizes<2>& padding,
                     const Sizes<2>& dilation, bool ceil_mode, Loc where) {
  return max_pool(x, kernel_size, stride, padding, dilation, ceil_mode, "max_pool2d", where).first;
}
Tensor<5> max_pool3d(const Tensor<5>& x, const Sizes<3>& kernel_size, const Sizes<3>& stride, const Sizes<3>& padding,
                     const Sizes<3>& dilation, bool ceil_mode, Loc where) {
  return max_pool(x, kernel_size, stride, padding, dilation, ceil_mode, "max_pool3d", where).first;
}

Tensor<4> max_pool2d_with_indices_backward(const Tensor<4>& x, const Sizes<2>& kernel_size, const Sizes<2>& stride,
                                           const Sizes<2>& padding, const Sizes<2>& dilation, bool ceil_mode,
                                           const Tensor<4>& output_grad, const Tensor<4, Int>& indices, Loc where) {
  client::fail_if_empty(x.value(), "max_pool2d_with_indices_backward", at(where, "max_pool2d_with_indices_backward"));
  client::fail_if_empty(output_grad.value(), "max_pool2d_with_indices_backward: the gradient",
                        at(where, "max_pool2d_with_indices_backward"));
  const ir::MaxPool pool{dims(kernel_size), dims(stride), dims(padding), dims(dilation), ceil_mode};
  const ir::TensorType* operand = &x.value().type();
  const auto pooled = ir::infer(pool, {&operand, 1});
  if (!pooled.ok()) client::fail(pooled.status().message(), at(where, "max_pool2d_with_indices_backward"));
  if ((*pooled)[0].shape != output_grad.value().shape()) {
    client::fail("max_pool2d_with_indices_backward: pooling gives " + ir::to_string((*pooled)[0]) +
                     ", the gradient is " + ir::to_string(output_grad.value().type()),
                 at(where, "max_pool2d_with_indices_backward"));
  }
  return Tensor<4>{client::max_pool_grad(x.value(), indices.value(), output_grad.value(),
                                         at(where, "max_pool2d_with_indices_backward"))};
}

Tensor<3> avg_pool1d(const Tensor<3>& x, std::int64_t kernel_size, std::int64_t stride, std::int64_t padding,
                     bool count_include_pad, bool ceil_mode, Loc where) {
  return avg_pool(x, Sizes<1>{kernel_size}, Sizes<1>{stride}, Sizes<1>{padding}, count_include_pad, ceil_mode, where);
}
Tensor<4> avg_pool2d(const Tensor<4>& x, const Sizes<2>& kernel_size, const Sizes<2>& stride, const Sizes<2>& padding,
                     bool count_include_pad, bool ceil_mode, Loc where) {
  return avg_pool(x, kernel_size, stride, padding, count_include_pad, ceil_mode, where);
}
Tensor<5> avg_pool3d(const Tensor<5>& x, const Sizes<3>& kernel_size, const Sizes<3>& stride, const Sizes<3>& padding,
                     bool count_include_pad, bool ceil_mode, Loc where) {
  return avg_pool(x, kernel_size, stride, padding, count_include_pad, ceil_mode, where);
}

Tensor<4> avg_pool2d_backward(const Tensor<4>& x, const Tensor<4>& output_grad, const Sizes<2>& kernel_size,
                              const Sizes<2>& stride, const Sizes<2>& padding, bool count_include_pad, bool ceil_mode,
                              Loc where) {
  client::fail_if_empty(x.value(), "avg_pool2d_backward", at(where, "avg_pool2d_backward"));
  const ir::Dims size{x.value().dim(2), x.value().dim(3)};
  return Tensor<4>{
      client::apply(ir::AvgPoolGrad{dims(kernel_size), dims(stride), dims(padding), size, count_include_pad, ceil_mode},
                    output_grad.value(), at(where, "avg_pool2d_backward"))};
}

Tensor<3> adaptive_avg_pool1d(const Tensor<3>& x, std::int64_t output_size, Loc where) {
  return adaptive_avg_pool(x, Sizes<1>{output_size}, where);
}
Tensor<4> adaptive_avg_pool2d(const Tensor<4>& x, const Sizes<2>& output_size, Loc where) {
  return adaptive_avg_pool(x, output_size, where);
}
Tensor<5> adaptive_avg_pool3d(const Tensor<5>& x, const Sizes<3>& output_size, Loc where) {
  return adaptive_avg_pool(x, output_size, where);
}

std::pair<Tensor<3>, Tensor<3, Int>> adaptive_max_pool1d_with_indices(const Tensor<3>& x, std::int64_t output_size,
                                                                      Loc where) {
  return adaptive_max_pool(x, Sizes<1>{output_size}, "adaptive_max_pool1d_with_indices", where);
}
std::pair<Tensor<4>, Tensor<4, Int>> adaptive_max_pool2d_with_indices(const Tensor<4>& x, const Sizes<2>& output_size,
                                                                      Loc where) {
  return adaptive_max_pool(x, output_size, "adaptive_max_pool2d_with_indices", where);
}
std::pair<Tensor<5>, Tensor<5, Int>> adaptive_max_pool3d_with_indices(const Tensor<5>& x, const Sizes<3>& output_size,
                                                                      Loc where) {
  return adaptive_max_pool(x, output_size, "adaptive_max_pool3d_with_indices", where);
}
Tensor<3> adaptive_max_pool1d(const Tensor<3>& x, std::int64_t output_size, Loc where) {
  return adaptive_max_pool(x, Sizes<1>{output_size}, "adaptive_max_pool1d", where).first;
}
Tensor<4> adaptive_max_pool2d(const Tensor<4>& x, const Sizes<2>& output_size, Loc where) {
  return adaptive_max_pool(x, output_size, "adaptive_max_pool2d", where).first;
}
Tensor<5> adaptive_max_pool3d(const Tensor<5>& x, const Sizes<3>& output_size, Loc where) {
  return adaptive_max_pool(x, output_size, "adaptive_max_pool3d", where).first;
}

}  // namespace burn::module
