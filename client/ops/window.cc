#include <algorithm>
#include <array>

#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/ops.h"

namespace burn::client {
namespace {

// Adds a per-channel bias, as [1, c, 1, ...].
Value add_channel_bias(const Value& y, const Value* bias, const Site& site) {
  if (bias == nullptr) return y;
  fail_if_empty(*bias, "conv: the bias", site);
  ir::Shape shape = ir::Shape::filled(y.rank(), 1);
  shape[1] = bias->dim(0);
  return pointwise(ir::PointwiseFn::add, y, reshape(*bias, shape, site), site);
}

// Calls `body` with a convolution's operands, cast as the autocast scope requires.
template <typename Body>
Value with_product_dtype(const Value& x, const Value& weight, const Value* bias, const Site& site, Body&& body) {
  const auto low = product_dtype({&x, &weight, bias});
  if (!low) return body(x, weight, bias);
  const Value narrow_bias = bias != nullptr ? cast(*bias, *low, site) : Value{};
  return body(cast(x, *low, site), cast(weight, *low, site), bias != nullptr ? &narrow_bias : nullptr);
}

}  // namespace

Value conv(const Value& x, const Value& weight, const Value* bias, const ir::Conv& options, const Site& site) {
  return with_product_dtype(x, weight, bias, site, [&](const Value& input, const Value& filter, const Value* shift) {
    return add_channel_bias(apply(options, input, filter, site), shift, site);
  });
}

Value conv_transpose(const Value& x, const Value& weight, const Value* bias, const ir::Conv& options,
                     const ir::Dims& padding_out, const Site& site) {
  fail_if_empty(x, "conv_transpose", site);
  fail_if_empty(weight, "conv_transpose: the weight", site);
  const int spatial = x.rank() - 2;
  if (spatial < 1 || weight.rank() != x.rank() || options.stride.rank() != spatial ||
      options.pad_begin.rank() != spatial || options.pad_end.rank() != spatial || options.dilation.rank() != spatial ||
      padding_out.rank() != spatial) {
    fail("conv_transpose: input " + ir::to_string(x.type()) + ", weight " + ir::to_string(weight.type()) +
             " and options of " + std::to_string(options.stride.rank()) + " spatial dims do not fit",
         site);
  }
  // padding_out extends the result at its end: first by reducing the end padding, then with zeros.
  ir::Dims size, pad_end;
  std::vector<std::pair<std::int64_t, std::int64_t>> zeros;
  bool has_zeros = false;
  for (int i = 0; i < spatial; ++i) {
    const auto uncut = std::min(options.pad_end[i], padding_out[i]);
    pad_end.push_back(options.pad_end[i] - uncut);
    zeros.emplace_back(0, padding_out[i] - uncut);
    has_zeros |= zeros.back().second > 0;
    size.push_back((x.dim(i + 2) - 1) * options.stride[i] - options.pad_begin[i] - pad_end[i] +
                   options.dilation[i] * (weight.dim(i + 2) - 1) + 1);
  }
  const ir::ConvInputGrad op{options.stride, options.pad_begin, pad_end, options.dilation, size, options.groups};
  return with_product_dtype(x, weight, bias, site, [&](const Value& input, const Value& filter, const Value* shift) {
    Value y = apply(op, input, filter, site);
    if (has_zeros) y = pad(y, zeros, 0, site);
    return add_channel_bias(y, shift, site);
  });
}

Indexed max_pool_with_indices(const Value& x, const ir::MaxPool& options, const Site& site) {
  auto results = apply_all(options, x, site);
  return {std::move(results[0]), std::move(results[1])};
}

Value max_pool(const Value& x, const ir::MaxPool& options, const Site& site) {
  return max_pool_with_indices(x, options, site).values;
}

Value avg_pool(const Value& x, const ir::AvgPool& options, const Site& site) { return apply(options, x, site); }

Value adaptive_avg_pool(const Value& x, const ir::Dims& output_size, const Site& site) {
  return apply(ir::AdaptiveAvgPool{output_size}, x, site);
}

Indexed adaptive_max_pool(const Value& x, const ir::Dims& output_size, const Site& site) {
  auto results = apply_all(ir::AdaptiveMaxPool{output_size}, x, site);
  return {std::move(results[0]), std::move(results[1])};
}

Value max_pool_grad(const Value& x, const Value& indices, const Value& grad, const Site& site) {
  for (const Value* v : {&x, &indices, &grad}) fail_if_empty(*v, "max_pool_grad", site);
  if (x.rank() < 3 || indices.shape() != grad.shape() || grad.rank() != x.rank()) {
    fail("max_pool_grad: input " + ir::to_string(x.type()) + ", indices " + ir::to_string(indices.type()) +
             " and gradient " + ir::to_string(grad.type()) + " do not belong to one pool",
         site);
  }
  const auto flat = [&](const Value& v) { return v.rank() == 3 ? v : flatten(v, 2, -1, site); };
  const Value zeros = filled(place_of(grad), x.shape(), 0, x.dtype(), site);
  return reshape(scatter(flat(zeros), 2, flat(indices), flat(grad), ir::ScatterFn::add, site), x.shape(), site);
}

}  // namespace burn::client
