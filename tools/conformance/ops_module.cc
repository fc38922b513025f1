#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

ir::Conv conv_options(const Call& c) {
  const auto padding = c.dims("padding");
  return {c.dims("stride"), padding, c.has("padding_end") ? c.dims("padding_end") : padding, c.dims("dilation"),
          c.integer("groups")};
}

std::vector<Value> conv(const Call& c) { return {client::conv(c.x(0), c.x(1), c.optional(2), conv_options(c), kSite)}; }
std::vector<Value> conv_transpose(const Call& c) {
  return {client::conv_transpose(c.x(0), c.x(1), c.optional(2), conv_options(c), c.dims("padding_out"), kSite)};
}

ir::MaxPool max_pool_options(const Call& c) {
  return {c.dims("kernel_size"), c.dims("stride"), c.dims("padding"), c.dims("dilation"),
          c.has("ceil_mode") && c.flag("ceil_mode")};
}
std::vector<Value> max_pool(const Call& c) { return {client::max_pool(c.x(), max_pool_options(c), kSite)}; }
std::vector<Value> max_pool_with_indices(const Call& c) {
  const auto [values, indices] = client::max_pool_with_indices(c.x(), max_pool_options(c), kSite);
  return {values, indices};
}
std::vector<Value> avg_pool(const Call& c) {
  return {client::avg_pool(c.x(),
                           {c.dims("kernel_size"), c.dims("stride"), c.dims("padding"), c.flag("count_include_pad"),
                            c.has("ceil_mode") && c.flag("ceil_mode")},
                           kSite)};
}
std::vector<Value> adaptive_avg_pool(const Call& c) {
  return {client::adaptive_avg_pool(c.x(), c.dims("output_size"), kSite)};
}

}  // namespace

void add_module(OpTable& t) {
  t["matmul"] = [](const Call& c) { return std::vector{client::matmul(c.x(0), c.x(1), kSite)}; };
  t["dot"] = [](const Call& c) {
    return std::vector{client::reduce_all(ir::ReduceFn::sum, client::pointwise(Fn::mul, c.x(0), c.x(1), kSite), kSite)};
  };
  t["linear"] = [](const Call& c) { return std::vector{client::linear(c.x(0), c.x(1), c.optional(2), kSite)}; };
  t["embedding"] = [](const Call& c) {
    const auto rows = client::select_rows(c.x(0), 0, client::reshape(c.x(1), {-1}, kSite), kSite);
    return std::vector{client::reshape(rows, {c.x(1).dim(0), c.x(1).dim(1), c.x(0).dim(1)}, kSite)};
  };
  t["attention"] = [](const Call& c) {
    client::AttentionOptions options{.is_causal = c.flag("is_causal")};
    if (c.has("scale")) options.scale = c.number("scale");
    if (c.has("softcap")) options.softcap = c.number("softcap");
    return std::vector{client::attention(c.x(0), c.x(1), c.x(2), c.optional(3), c.optional(4), options, kSite)};
  };
  t["conv1d"] = t["conv2d"] = t["conv3d"] = conv;
  t["conv_transpose1d"] = t["conv_transpose2d"] = t["conv_transpose3d"] = conv_transpose;
  t["max_pool1d"] = t["max_pool2d"] = max_pool;
  t["max_pool1d_with_indices"] = t["max_pool2d_with_indices"] = max_pool_with_indices;
  t["avg_pool1d"] = t["avg_pool2d"] = avg_pool;
  t["adaptive_avg_pool1d"] = t["adaptive_avg_pool2d"] = t["adaptive_avg_pool3d"] = adaptive_avg_pool;
}

}  // namespace burn::conformance
