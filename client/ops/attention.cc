#include <cmath>
#include <limits>

#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/formula.h"

namespace burn::client {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The broadcast batch dims of all operands. spread() reports dims that do not broadcast.
ir::Shape common_batch(std::span<const Value* const> all, const Site& site) {
  for (const Value* x : all) {
    if (x != nullptr) fail_if_empty(*x, "attention", site);
  }
  const int rank = all.front()->rank();
  ir::Shape batch = ir::Shape::filled(std::max(rank - 2, 0), 1);
  for (const Value* x : all) {
    if (x == nullptr) continue;
    if (x->rank() != rank || rank < 2) {
      fail("attention: takes matrices of one rank, got " + ir::to_string(all.front()->type()) + " and " +
               ir::to_string(x->type()),
           site);
    }
    for (int i = 0; i < rank - 2; ++i) {
      if (batch[i] == 1) batch[i] = x->dim(i);
    }
  }
  return batch;
}

// Expands dims of size 1: the batch dims, and the last two to `rows` and `columns`.
Value spread(const Value& x, const ir::Shape& batch, std::int64_t rows, std::int64_t columns, const Site& site) {
  ir::Shape shape = batch;
  shape.push_back(rows);
  shape.push_back(columns);
  for (int i = 0; i < shape.rank(); ++i) {
    if (x.dim(i) != 1 && x.dim(i) != shape[i]) {
      fail("attention: " + ir::to_string(x.type()) + " does not repeat to " + ir::to_string(shape), site);
    }
  }
  return x.shape() == shape ? x : expand(x, shape, site);
}

struct Operands {
  Value q, k, v;
  std::optional<Value> mask, bias;

  Operands(const Value& query, const Value& key, const Value& value, const Value* hidden, const Value* added,
           const Site& site) {
    const Value* all[] = {&query, &key, &value, hidden, added};
    const auto batch = common_batch(all, site);
    const auto low = product_dtype({&query, &key, &value, added});
    const auto fit = [&](const Value& x, std::int64_t rows, std::int64_t columns) {
      return spread(low ? cast(x, *low, site) : x, batch, rows, columns, site);
    };
    q = fit(query, query.dim(-2), query.dim(-1));
    k = fit(key, key.dim(-2), key.dim(-1));
    v = fit(value, value.dim(-2), value.dim(-1));
    if (hidden) mask = spread(*hidden, batch, q.dim(-2), k.dim(-2), site);
    if (added) bias = fit(*added, q.dim(-2), k.dim(-2));
  }
  double scale(const AttentionOptions& options) const {
    return options.scale.value_or(1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(q.dim(-1), 1))));
  }
};

}  // namespace

Value mask_scores(const Value& scores, const Value* mask, bool is_causal, const Site& site) {
  Value hidden = mask ? *mask : Value{};
  if (is_causal) {
    const auto n = scores.dim(-2), m = scores.dim(-1);
    const Place place = place_of(scores);
    const Value i = reshape(arange(place, 0, n, 1, ir::DType::i64, site), ir::Shape{n, 1}, site);
    const Value j = reshape(arange(place, 0, m, 1, ir::DType::i64, site), ir::Shape{1, m}, site);
    const Value last = pointwise(ir::PointwiseFn::add, i, Scalar{m - n}, site);
    ir::Shape shape = ir::Shape::filled(scores.rank(), 1);
    shape[scores.rank() - 2] = n;
    shape[scores.rank() - 1] = m;
    const Value later = reshape(pointwise(ir::PointwiseFn::greater, j, last, site), shape, site);
    hidden = mask ? pointwise(ir::PointwiseFn::bool_or, hidden, later, site) : expand(later, scores.shape(), site);
  }
  if (!hidden.has_value()) return scores;
  const SiteScope scope{site};
  return select(hidden, -kInfinity, scores);
}

Value softmax_or_zero(const Value& scores, const Site& site) {
  if (scores.dim(-1) == 0) return scores;
  const ir::Dims axes{scores.rank() - 1};
  return in_compute_dtype(scores, site, [&](const Value& x) {
    const Value largest = reduce(ir::ReduceFn::max, x.detach(), axes, site);
    const Value exps = exp(x - select(largest == -kInfinity, 0.0, largest));
    const Value sum = reduce(ir::ReduceFn::sum, exps, axes, site);
    return exps / select(sum == 0.0, 1.0, sum);
  });
}

Value attention_fallback(const Value& query, const Value& key, const Value& value, const Value* mask, const Value* bias,
                         const AttentionOptions& options, const Site& site) {
  Operands in(query, key, value, mask, bias, site);
  const auto dtype = in.q.dtype();
  const Autocast pause{ir::DType::f32};  // everything below computes in the compute dtype, also within a scope
  for (Value* operand : {&in.q, &in.k, &in.v}) *operand = to_compute_dtype(*operand, site);
  if (in.bias) in.bias = to_compute_dtype(*in.bias, site);
  const SiteScope scope{site};
  Value scores = matmul(in.q, swap_dims(in.k, -2, -1, site), site) * in.scale(options);  // [..., n, m]
  if (options.softcap) scores = tanh(scores * (1 / *options.softcap)) * *options.softcap;
  scores = mask_scores(scores, in.mask ? &*in.mask : nullptr, options.is_causal, site);
  if (in.bias) scores = scores + *in.bias;
  return cast(matmul(softmax_or_zero(scores, site), in.v, site), dtype, site);  // [..., n, e]
}

Value attention(const Value& query, const Value& key, const Value& value, const Value* mask, const Value* bias,
                const AttentionOptions& options, const Site& site) {
  if (options.softcap) return attention_fallback(query, key, value, mask, bias, options, site);
  const Operands in(query, key, value, mask, bias, site);
  std::vector<Value> operands{in.q, in.k, in.v};
  if (in.mask) operands.push_back(*in.mask);
  if (in.bias) operands.push_back(*in.bias);
  return std::move(apply_all(ir::Attention{in.scale(options), options.is_causal}, operands, site)[0]);
}

}  // namespace burn::client
