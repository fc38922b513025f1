#include "nn/attention/attention.h"

#include <algorithm>
#include <cmath>

#include "client/fail.h"
#include "client/ops/activation.h"
#include "nn/module/checks.h"

namespace burn::nn {
namespace {

using client::Site;
using client::Value;
using Fn = ir::PointwiseFn;

// [batch, length, d_model] -> [batch, heads, length, depth]
Value split_heads(const Value& x, std::int64_t heads, const Site& site) {
  return client::swap_dims(client::reshape(x, {x.dim(0), x.dim(1), heads, x.dim(2) / heads}, site), 1, 2, site);
}

}  // namespace

MultiHeadAttention MultiHeadAttentionConfig::init(const Device& device) const {
  detail::check_at_least("MultiHeadAttentionConfig", "d_model", d_model, 1);
  detail::check_at_least("MultiHeadAttentionConfig", "n_heads", n_heads, 1);
  if (d_model % n_heads != 0) {
    detail::reject("MultiHeadAttentionConfig",
                   std::to_string(n_heads) + " heads do not divide d_model " + std::to_string(d_model));
  }
  const auto linear = [&](bool bias) {
    return LinearConfig{.d_input = d_model, .d_output = d_model, .bias = bias, .initializer = initializer}.init(device);
  };
  return {.query = linear(query_bias),
          .key = linear(key_bias),
          .value = linear(value_bias),
          .output = linear(output_bias),
          .dropout = DropoutConfig{.prob = dropout}.init(),
          .d_model = d_model,
          .n_heads = n_heads,
          .min_float = min_float,
          .quiet_softmax = quiet_softmax};
}

MhaValuesOutput MultiHeadAttention::apply(const MhaValues& input, const Site& site) const {
  return attend(query.apply(input.query, site), key.apply(input.key, site), value.apply(input.value, site), input,
                site);
}

MhaValuesOutput MultiHeadAttention::apply_next(const MhaValues& fresh, MhaCache& cache, const Site& site) const {
  const Value q = query.apply(fresh.query, site);
  const auto keep = [&](TensorCache<3>& kept, const Linear& linear, const Value& x) -> Value {
    if (!cache.is_cross) return kept.append(linear.apply(x, site), site);
    if (!kept.value) kept.value = Tensor<3>{linear.apply(x, site)};
    return kept.value->value();
  };
  return attend(q, keep(cache.key, key, fresh.key), keep(cache.value, value, fresh.value), fresh, site);
}

MhaOutput MultiHeadAttention::forward_cache(const MhaInput& input, MhaCache& cache, Loc where) const {
  const auto seen = cache.output.length(where), fresh = input.query.dim(1, where) - seen;
  const auto rest = [&](const Tensor<3>& x) { return seen == 0 ? x : x.narrow(1, seen, fresh, where); };
  MhaInput next = input;
  next.query = rest(input.query);
  if (!cache.is_cross) next.key = rest(input.key), next.value = rest(input.value);
  if (input.mask_attn && seen > 0) next.mask_attn = input.mask_attn->narrow(1, seen, fresh, where);
  auto output = forward_next(next, cache, where);
  output.context = cache.output.append(output.context, where);
  return output;
}

MhaValuesOutput MultiHeadAttention::attend(const Value& queries, const Value& keys, const Value& values,
                                           const MhaValues& input, const Site& site) const {
  detail::check_rank("attention: the queries", queries, 3, site);
  detail::check_rank("attention: the keys", keys, 3, site);
  detail::check_rank("attention: the values", values, 3, site);
  const Value q = split_heads(queries, n_heads, site), k = split_heads(keys, n_heads, site),
              v = split_heads(values, n_heads, site);
  const auto batch = queries.dim(0), n = queries.dim(1), m = keys.dim(1);

  std::optional<Value> mask;
  if (input.mask_pad) mask = client::reshape(*input.mask_pad, {batch, 1, 1, m}, site);
  if (input.mask_attn) {
    const Value attn = client::reshape(*input.mask_attn, {batch, 1, n, m}, site);
    mask = mask ? client::pointwise(Fn::bool_or, *mask, attn, site) : attn;
  }

  // Records the weights; they are computed only if the result is read.
  const auto d_head = d_model / n_heads;
  const double scale = 1 / std::sqrt(static_cast<double>(d_head));
  Value scores =  // [batch, heads, n, m]
      client::pointwise(Fn::mul, client::matmul(q, client::swap_dims(k, 2, 3, site), site), scale, site);
  std::optional<Value> hidden = mask;
  if (input.is_causal) {
    const Value none = client::filled(client::place_of(q), {1, 1, n, m}, 0, scores.dtype(), site);
    const Value later = client::pointwise(Fn::lower, client::mask_scores(none, nullptr, true, site), 0.0, site);
    hidden = mask ? client::pointwise(Fn::bool_or, *mask, later, site) : later;
  }
  if (hidden) {
    const Value low = client::scalar(client::place_of(scores), min_float, scores.dtype(), site);
    scores = client::select(*hidden, low, scores, site);
  }
  const Value weights =
      dropout.apply(quiet_softmax ? client::quiet_softmax(scores, 3, site) : client::softmax(scores, 3, site), site);

  const bool needs_weights = quiet_softmax || dropout.is_dropping(scores) || (hidden && min_float > -1e4);
  const Value context = needs_weights ? client::matmul(weights, v, site)
                                      : client::attention(q, k, v, mask ? &*mask : nullptr, nullptr,
                                                          {.scale = scale, .is_causal = input.is_causal}, site);
  const Value together = client::reshape(client::swap_dims(context, 1, 2, site), {batch, n, d_model}, site);
  return {.weights = weights, .context = output.apply(together, site)};
}

Tensor<3, Bool> generate_autoregressive_mask(std::int64_t batch, std::int64_t length, const Device& device) {
  const auto positions = Tensor<1, Int>::arange(0, length, device);
  return positions.reshape<3>({1, 1, length})
      .greater(positions.reshape<3>({1, length, 1}))
      .expand<3>({batch, length, length});
}

GeneratePaddingMask generate_padding_mask(std::int64_t pad_token, const std::vector<std::vector<std::int64_t>>& tokens,
                                          const SeqLengthOption& length, const Device& device, Loc where) {
  const auto site = at(where, "generate_padding_mask");
  if (tokens.empty()) client::fail("generate_padding_mask: no sequence", site);
  std::size_t size = 0;
  for (const auto& sequence : tokens) size = std::max(size, sequence.size());
  const auto least = std::min(length.max.value_or(0), length.fixed.value_or(0));
  if (least < 0) client::fail("generate_padding_mask: a length of " + std::to_string(least), site);
  if (length.max) size = std::min(size, static_cast<std::size_t>(*length.max));
  if (length.fixed) size = static_cast<std::size_t>(*length.fixed);
  std::vector<std::int64_t> all(tokens.size() * size, pad_token);
  std::vector<bool> is_padding(all.size(), true);
  for (std::size_t row = 0; row < tokens.size(); ++row) {
    for (std::size_t i = 0; i < std::min(size, tokens[row].size()); ++i) {
      all[row * size + i] = tokens[row][i];
      is_padding[row * size + i] = false;
    }
  }
  const ir::Shape shape{static_cast<std::int64_t>(tokens.size()), static_cast<std::int64_t>(size)};
  return {.tensor = Tensor<2, Int>::from_data(TensorData(std::move(all), shape), device, where),
          .mask = Tensor<2, Bool>::from_data(TensorData(std::move(is_padding), shape), device, where)};
}

}  // namespace burn::nn
