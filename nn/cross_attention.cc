#include "nn/cross_attention.h"

#include <cmath>
#include <string>

#include "nn/activation.h"
#include "nn/checks.h"

namespace burn::nn {

CrossAttention CrossAttentionConfig::init(const Device& device) const {
  constexpr const char* kName = "CrossAttentionConfig";
  detail::check_at_least(kName, "d_model", d_model, 1);
  detail::check_at_least(kName, "d_context", d_context, 1);
  detail::check_at_least(kName, "n_heads", n_heads, 1);
  detail::check_at_least(kName, "n_heads_kv", n_heads_kv, 1);
  detail::check_at_least(kName, "d_head", d_head, 1);
  if (n_heads % n_heads_kv != 0) {
    detail::reject(kName, std::to_string(n_heads_kv) + " heads of keys do not divide " + std::to_string(n_heads) +
                              " heads of queries");
  }
  const auto linear = [&](std::int64_t d_input, std::int64_t d_output) {
    const auto initializer = Initializer::kaiming_uniform(1 / std::sqrt(static_cast<double>(d_head)));
    return LinearConfig{.d_input = d_input, .d_output = d_output, .initializer = initializer}.init(device);
  };
  return {.query = linear(d_model, n_heads * d_head),
          .key = linear(d_context, n_heads_kv * d_head),
          .value = linear(d_context, n_heads_kv * d_head),
          .output = linear(n_heads * d_head, d_model),
          .dropout = DropoutConfig{.prob = dropout}.init(),
          .n_heads = n_heads,
          .n_heads_kv = n_heads_kv,
          .d_head = d_head,
          .min_float = min_float,
          .quiet_softmax = quiet_softmax};
}

Tensor<3> CrossAttention::forward(const Tensor<3>& x, const Tensor<3>& context,
                                  const std::optional<Tensor<2, Bool>>& mask, Loc where) const {
  CrossAttentionCache once;
  return forward_cache(x, context, mask, once, where);
}

Tensor<3> CrossAttention::forward_cache(const Tensor<3>& x, const Tensor<3>& context,
                                        const std::optional<Tensor<2, Bool>>& mask, CrossAttentionCache& cache,
                                        Loc where) const {
  const Tensor<3> keys = cache.key.forward_full(context, [&](const Tensor<3>& c) { return key(c, where); });
  const Tensor<3> values = cache.value.forward_full(context, [&](const Tensor<3>& c) { return value(c, where); });
  const auto batch = x.dim(0), n = x.dim(1), m = keys.dim(1), shared = n_heads / n_heads_kv;
  // The queries that share a head of keys, side by side: [batch, n_heads_kv, shared n, d_head].
  const Tensor<4> q = query(x, where)
                          .reshape<5>({batch, n, n_heads_kv, shared, d_head}, where)
                          .permute({0, 2, 3, 1, 4}, where)
                          .reshape<4>({batch, n_heads_kv, shared * n, d_head}, where);
  const auto heads = [&](const Tensor<3>& t) {
    return t.reshape<4>({batch, m, n_heads_kv, d_head}, where).swap_dims(1, 2, where);
  };
  const double scale = 1 / std::sqrt(static_cast<double>(d_head));
  Tensor<4> scores = q.matmul(heads(keys).swap_dims(2, 3, where), where).mul(scale, where);
  if (mask) scores = scores.mask_fill(mask->reshape<4>({batch, 1, 1, m}, where), min_float, where);
  const Tensor<4> weights = dropout(
      quiet_softmax ? activation::quiet_softmax(scores, 3, where) : activation::softmax(scores, 3, where), where);
  const Tensor<3> found = weights.matmul(heads(values), where)
                              .reshape<5>({batch, n_heads_kv, shared, n, d_head}, where)
                              .permute({0, 3, 1, 2, 4}, where)
                              .reshape<3>({batch, n, n_heads * d_head}, where);
  return output(found, where);
}

}  // namespace burn::nn
