#include "nn/attention/cross_attention.h"

#include <cmath>
#include <string>

#include "client/ops/activation.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

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

Value CrossAttention::apply(const Value& x, const Value& context, const Value* mask, const Site& site) const {
  CrossAttentionCache once;
  return apply_cache(x, context, mask, once, site);
}

Value CrossAttention::apply_cache(const Value& x, const Value& context, const Value* mask, CrossAttentionCache& cache,
                                  const Site& site) const {
  detail::check_rank("cross_attention", x, 3, site);
  const auto projected = [&](TensorCache<3>& kept, const Linear& linear) -> const Value& {
    if (!kept.value) kept.value = Tensor<3>{linear.apply(context, site)};
    return kept.value->value();
  };
  const Value& keys = projected(cache.key, key);
  const Value& values = projected(cache.value, value);
  const auto batch = x.dim(0), n = x.dim(1), m = keys.dim(1), shared = n_heads / n_heads_kv;
  // Groups the queries that share a head of keys: [batch, n_heads_kv, shared n, d_head].
  const Value split = client::reshape(query.apply(x, site), {batch, n, n_heads_kv, shared, d_head}, site);
  const Value q =
      client::reshape(client::permute(split, {0, 2, 3, 1, 4}, site), {batch, n_heads_kv, shared * n, d_head}, site);
  const auto heads = [&](const Value& t) {
    return client::swap_dims(client::reshape(t, {batch, m, n_heads_kv, d_head}, site), 1, 2, site);
  };
  const double scale = 1 / std::sqrt(static_cast<double>(d_head));
  const Value products = client::matmul(q, client::swap_dims(heads(keys), 2, 3, site), site);
  Value scores = client::pointwise(ir::PointwiseFn::mul, products, scale, site);
  if (mask != nullptr) {
    const Value hidden = client::reshape(*mask, {batch, 1, 1, m}, site);
    const Value low = client::scalar(client::place_of(scores), min_float, scores.dtype(), site);
    scores = client::select(hidden, low, scores, site);
  }
  const Value weights =
      dropout.apply(quiet_softmax ? client::quiet_softmax(scores, 3, site) : client::softmax(scores, 3, site), site);
  const Value found =
      client::reshape(client::matmul(weights, heads(values), site), {batch, n_heads_kv, shared, n, d_head}, site);
  return output.apply(
      client::reshape(client::permute(found, {0, 3, 1, 2, 4}, site), {batch, n, n_heads * d_head}, site), site);
}

}  // namespace burn::nn
