#include "nn/attention.h"

#include <algorithm>
#include <cmath>

#include "client/fail.h"
#include "nn/activation.h"
#include "nn/checks.h"

namespace burn::nn {
namespace {

// [batch, length, d_model] -> [batch, heads, length, depth]
Tensor<4> split_heads(const Tensor<3>& x, std::int64_t heads, Loc where) {
  const auto dims = x.dims();
  return x.reshape<4>({dims[0], dims[1], heads, dims[2] / heads}, where).swap_dims(1, 2, where);
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

MhaOutput MultiHeadAttention::forward(const MhaInput& input, Loc where) const {
  return attend(query(input.query, where), key(input.key, where), value(input.value, where), input, where);
}

MhaOutput MultiHeadAttention::forward_next(const MhaInput& fresh, MhaCache& cache, Loc where) const {
  const auto q = query(fresh.query, where);
  const auto keep = [&](TensorCache<3>& kept, const Linear& linear, const Tensor<3>& x) {
    const auto project = [&](const Tensor<3>& part) { return linear(part, where); };
    return cache.is_cross ? kept.forward_full(x, project) : kept.append(project(x), where);
  };
  return attend(q, keep(cache.key, key, fresh.key), keep(cache.value, value, fresh.value), fresh, where);
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

MhaOutput MultiHeadAttention::attend(const Tensor<3>& queries, const Tensor<3>& keys, const Tensor<3>& values,
                                     const MhaInput& input, Loc where) const {
  const Tensor<4> q = split_heads(queries, n_heads, where);
  const Tensor<4> k = split_heads(keys, n_heads, where);
  const Tensor<4> v = split_heads(values, n_heads, where);
  const auto batch = queries.dim(0), n = queries.dim(1), m = keys.dim(1);

  std::optional<Tensor<4, Bool>> mask;
  if (input.mask_pad) mask = input.mask_pad->reshape<4>({batch, 1, 1, m}, where);
  if (input.mask_attn) {
    const auto attn = input.mask_attn->reshape<4>({batch, 1, n, m}, where);
    mask = mask ? mask->bool_or(attn, where) : attn;
  }

  // The weights as a formula, computed only if they are read.
  const double scale = 1 / std::sqrt(static_cast<double>(d_model / n_heads));
  Tensor<4> scores = q.matmul(k.swap_dims(2, 3, where), where).mul(scale, where);  // [batch, heads, n, m]
  std::optional<Tensor<4, Bool>> hidden = mask;
  if (input.is_causal) {
    const auto none = Tensor<4>::zeros({1, 1, n, m}, {q.device(), scores.dtype()}, where);
    const auto later = Tensor<4>{client::hide(none.value(), nullptr, true, at(where))}.lower(0.0, where);
    hidden = mask ? mask->bool_or(later, where) : later;
  }
  if (hidden) scores = scores.mask_fill(*hidden, min_float, where);
  const Tensor<4> weights = dropout(
      quiet_softmax ? activation::quiet_softmax(scores, 3, where) : activation::softmax(scores, 3, where), where);

  const bool needs_weights = quiet_softmax || dropout.is_dropping(scores.value()) || (hidden && min_float > -1e4);
  Tensor<4> context = needs_weights ? weights.matmul(v, where)
                                    : module::attention<4>(q, k, v, mask, std::nullopt,
                                                           {.scale = scale, .is_causal = input.is_causal}, where);
  return {.weights = weights,
          .context = output(context.swap_dims(1, 2, where).reshape<3>({batch, n, d_model}, where), where)};
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
