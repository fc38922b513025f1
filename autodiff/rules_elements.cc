#include "autodiff/rule_list.h"

namespace burn::autodiff {
namespace grad_rules {

OperandGradients rule(const ir::Constant&, const TapedOp& s) { return flat(s); }
OperandGradients rule(const ir::Scalar&, const TapedOp& s) { return flat(s); }
OperandGradients rule(const ir::Iota&, const TapedOp& s) { return flat(s); }
OperandGradients rule(const ir::Random&, const TapedOp& s) { return flat(s); }
OperandGradients rule(const ir::Commit&, const TapedOp& s) { return flat(s); }

// Collectives are inserted into programs that are already recorded, gradients included, so they need no gradient rule.
OperandGradients rule(const ir::AllReduce&, const TapedOp& s) { return flat(s); }
OperandGradients rule(const ir::ReduceScatter&, const TapedOp& s) { return flat(s); }
OperandGradients rule(const ir::AllGather&, const TapedOp& s) { return flat(s); }
OperandGradients rule(const ir::AllToAll&, const TapedOp& s) { return flat(s); }

// The gradient column of pointwise.def, read as code over Values.
#define ZERO \
  std::optional<Value> {}
#define BURN_GRADIENT(i, formula) \
  if (step.needs[i]) result[i] = [&]() -> std::optional<Value> { return formula; }();

OperandGradients rule(const ir::Pointwise& op, const TapedOp& step) {
  OperandGradients result(step.x.size());
  [[maybe_unused]] const Value& y = step.y;
  [[maybe_unused]] const Value& g = step.g;
  switch (op.fn) {
#define P1(name, forms, kind, value, grad, doc)  \
  case Fn::name: {                               \
    [[maybe_unused]] const Value& x = step.x[0]; \
    BURN_GRADIENT(0, grad)                       \
    break;                                       \
  }
#define P2(name, method, kind, value, grad_a, grad_b, doc) \
  case Fn::name: {                                         \
    [[maybe_unused]] const Value& a = step.x[0];           \
    [[maybe_unused]] const Value& b = step.x[1];           \
    BURN_GRADIENT(0, grad_a)                               \
    BURN_GRADIENT(1, grad_b)                               \
    break;                                                 \
  }
#define P3(name, method, kind, value, grad_a, grad_b, grad_c, doc) \
  case Fn::name: {                                                 \
    [[maybe_unused]] const Value& a = step.x[0];                   \
    BURN_GRADIENT(0, grad_a)                                       \
    BURN_GRADIENT(1, grad_b)                                       \
    BURN_GRADIENT(2, grad_c)                                       \
    break;                                                         \
  }
#include "ir/ops/pointwise.def"
#undef P1
#undef P2
#undef P3
  }
  // A rank-0 operand was broadcast to every element: its gradient is the sum over them.
  for (std::size_t i = 0; i < result.size(); ++i) {
    auto& gradient = result[i];
    if (gradient) gradient = client::sum_to(*gradient, step.x[i].shape(), step.site);
  }
  return result;
}

OperandGradients rule(const ir::Cast&, const TapedOp& s) {
  return one(s, [&] { return client::cast(s.g, s.x[0].dtype(), s.site); });
}

}  // namespace grad_rules
}  // namespace burn::autodiff
