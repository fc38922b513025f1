#include "nn/pool/pool.h"

#include <array>
#include <limits>

#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {
namespace {

using client::Site;
using client::Value;

template <typename Layer>
Layer checked(const char* config, Layer layer) {
  detail::check_at_least(config, "kernel_size", layer.kernel_size, 1);
  detail::check_at_least(config, "stride", layer.stride, 1);
  if constexpr (requires { layer.dilation; }) detail::check_at_least(config, "dilation", layer.dilation, 1);
  detail::check_padding(config, layer.padding.kind, layer.padding.begin, layer.padding.end);
  return layer;
}

template <typename Layer>
detail::Padding padding_of(const Layer& layer, const Value& x) {
  auto dilation = layer.stride;
  dilation.fill(1);
  if constexpr (requires { layer.dilation; }) dilation = layer.dilation;
  return detail::resolve_padding(layer.padding.kind, layer.padding.begin, layer.padding.end, x.shape(),
                                 {layer.kernel_size, layer.stride, dilation});
}

// Pads the tensor itself, for padding that differs at both ends: the pooling ops pad both ends equally.
Value pad(const Value& x, const detail::Padding& padding, double number, const Site& site) {
  std::vector<std::pair<std::int64_t, std::int64_t>> pads;
  pads.reserve(static_cast<std::size_t>(padding.begin.rank()));
  for (int i = 0; i < padding.begin.rank(); ++i) pads.emplace_back(padding.begin[i], padding.end[i]);
  return client::pad(x, pads, number, site);
}

template <typename Layer>
Value max_pool(const Layer& layer, const Value& x, int rank, const Site& site) {
  detail::check_rank("max_pool", x, rank, site);
  const auto padding = padding_of(layer, x);
  ir::MaxPool op{.kernel = ir::Dims{std::span{layer.kernel_size}},
                 .stride = ir::Dims{std::span{layer.stride}},
                 .padding = padding.begin,
                 .dilation = ir::Dims{std::span{layer.dilation}},
                 .ceil_mode = layer.ceil_mode};
  if (padding.is_symmetric()) return client::max_pool(x, op, site);
  op.padding = ir::Dims::filled(op.kernel.rank(), 0);
  return client::max_pool(pad(x, padding, -std::numeric_limits<double>::infinity(), site), op, site);
}

template <typename Layer>
Value avg_pool(const Layer& layer, const Value& x, int rank, const Site& site) {
  detail::check_rank("avg_pool", x, rank, site);
  const auto padding = padding_of(layer, x);
  ir::AvgPool op{.kernel = ir::Dims{std::span{layer.kernel_size}},
                 .stride = ir::Dims{std::span{layer.stride}},
                 .padding = padding.begin,
                 .count_include_pad = layer.count_include_pad,
                 .ceil_mode = layer.ceil_mode};
  if (padding.is_symmetric()) return client::avg_pool(x, op, site);
  op.padding = ir::Dims::filled(op.kernel.rank(), 0);
  op.count_include_pad = true;
  auto pooled = client::avg_pool(pad(x, padding, 0, site), op, site);
  if (layer.count_include_pad) return pooled;
  // The mean over the whole window, divided by the part of it that lies inside the input.
  const auto inside = client::filled(client::place_of(x), x.shape(), 1, x.dtype(), site);
  const auto part = client::avg_pool(pad(inside, padding, 0, site), op, site);
  const client::SiteScope scope{site};
  return pooled / part;
}

}  // namespace

MaxPool1d MaxPool1dConfig::init() const {
  return checked("MaxPool1dConfig", MaxPool1d{.kernel_size = {kernel_size},
                                              .stride = {stride.value_or(kernel_size)},
                                              .dilation = {dilation},
                                              .padding = padding,
                                              .ceil_mode = ceil_mode});
}

MaxPool2d MaxPool2dConfig::init() const {
  return checked("MaxPool2dConfig", MaxPool2d{.kernel_size = kernel_size,
                                              .stride = strides.value_or(kernel_size),
                                              .dilation = dilation,
                                              .padding = padding,
                                              .ceil_mode = ceil_mode});
}

MaxPool3d MaxPool3dConfig::init() const {
  return checked("MaxPool3dConfig", MaxPool3d{.kernel_size = kernel_size,
                                              .stride = strides.value_or(kernel_size),
                                              .dilation = dilation,
                                              .padding = padding,
                                              .ceil_mode = ceil_mode});
}

AvgPool1d AvgPool1dConfig::init() const {
  return checked("AvgPool1dConfig", AvgPool1d{.kernel_size = {kernel_size},
                                              .stride = {stride.value_or(kernel_size)},
                                              .padding = padding,
                                              .count_include_pad = count_include_pad,
                                              .ceil_mode = ceil_mode});
}

AvgPool2d AvgPool2dConfig::init() const {
  return checked("AvgPool2dConfig", AvgPool2d{.kernel_size = kernel_size,
                                              .stride = strides.value_or(kernel_size),
                                              .padding = padding,
                                              .count_include_pad = count_include_pad,
                                              .ceil_mode = ceil_mode});
}

AvgPool3d AvgPool3dConfig::init() const {
  return checked("AvgPool3dConfig", AvgPool3d{.kernel_size = kernel_size,
                                              .stride = strides.value_or(kernel_size),
                                              .padding = padding,
                                              .count_include_pad = count_include_pad,
                                              .ceil_mode = ceil_mode});
}

Value MaxPool1d::apply(const Value& x, const Site& site) const { return max_pool(*this, x, 3, site); }
Value MaxPool2d::apply(const Value& x, const Site& site) const { return max_pool(*this, x, 4, site); }
Value MaxPool3d::apply(const Value& x, const Site& site) const { return max_pool(*this, x, 5, site); }
Value AvgPool1d::apply(const Value& x, const Site& site) const { return avg_pool(*this, x, 3, site); }
Value AvgPool2d::apply(const Value& x, const Site& site) const { return avg_pool(*this, x, 4, site); }
Value AvgPool3d::apply(const Value& x, const Site& site) const { return avg_pool(*this, x, 5, site); }

}  // namespace burn::nn
