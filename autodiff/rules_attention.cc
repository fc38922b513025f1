// The gradient of attention: one op for the gradients of q, k and v; formulas over the scores if the gradient is itself
// differentiated, or if the gradient of a bias is needed.
#include "autodiff/rule_list.h"
#include "base/error.h"

namespace burn::autodiff {
namespace {

Value transposed(const Value& x, const TapedOp& s) { return client::swap_dims(x, -2, -1, s.site); }

// With p the probabilities: dv = p^T g; ds = p (g v^T - the rows' sums of p (g v^T)), plus p times the gradient of the
// statistics if there is one; dq = scale ds k, dk = scale ds^T q.
OperandGradients by_scores(const ir::Attention& op, const TapedOp& s, const Value* mask, const Value* bias) {
  const auto widened = [&](const Value& x) { return client::cast(x, ir::compute_dtype(x.dtype()), s.site); };
  const auto narrowed = [&](const Value& x) { return client::cast(x, s.g.dtype(), s.site); };
  const Value q = widened(s.x[0]), k = widened(s.x[1]), v = widened(s.x[2]), g = widened(s.g);
  Value scores = client::matmul(q, transposed(k, s), s.site) * op.scale;
  if (bias) scores = scores + widened(*bias);
  const Value p = client::softmax_or_zero(client::mask_scores(scores, mask, op.causal, s.site), s.site);
  const Value weighted = p * client::matmul(g, transposed(v, s), s.site);
  Value ds = weighted - p * client::reduce(ir::ReduceFn::sum, weighted, ir::Dims{p.rank() - 1}, s.site);
  if (s.gs[1].has_value()) ds = ds + p * s.gs[1];
  OperandGradients result(s.x.size());
  if (s.needs[0]) result[0] = narrowed(client::matmul(ds, k, s.site) * op.scale);
  if (s.needs[1]) result[1] = narrowed(client::matmul(transposed(ds, s), q, s.site) * op.scale);
  if (s.needs[2]) result[2] = narrowed(client::matmul(transposed(p, s), g, s.site));
  if (bias && s.needs[s.x.size() - 1]) result[s.x.size() - 1] = narrowed(ds);
  return result;
}

}  // namespace

namespace grad_rules {

OperandGradients rule(const ir::Attention& op, const TapedOp& s) {
  const Value *mask = nullptr, *bias = nullptr;
  bool is_followed = s.g.is_tracked();  // the gradient will itself be differentiated
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    is_followed |= s.x[i].is_tracked();
    if (i >= 3) (ir::is_bool(s.x[i].dtype()) ? mask : bias) = &s.x[i];
  }
  if (is_followed || s.gs[1].has_value() || (bias && s.needs[s.x.size() - 1])) return by_scores(op, s, mask, bias);
  std::vector<Value> operands{s.x[0], s.x[1], s.x[2], s.ys[0], s.ys[1], s.g};
  operands.insert(operands.end(), s.x.begin() + 3, s.x.end());
  auto gradients = client::apply_all(ir::AttentionGrad{op.scale, op.causal}, operands, s.site);
  OperandGradients result(s.x.size());
  for (std::size_t i = 0; i < 3; ++i) {
    if (s.needs[i]) result[i] = std::move(gradients[i]);
  }
  return result;
}

// This op is recorded only if it is not itself differentiated: see above.
OperandGradients rule(const ir::AttentionGrad&, const TapedOp& s) {
  throw Error(
      StatusCode::unimplemented,
      "attention_grad has no gradient of its own; differentiate attention twice (at " + ir::to_string(s.site) + ")");
}

}  // namespace grad_rules
}  // namespace burn::autodiff
