#include "autodiff/rule_list.h"

namespace burn::autodiff::grad_rules {

// Both ops are linear in their operand, and each is the gradient of the other.
OperandGradients rule(const ir::Interpolate& op, const TapedOp& s) {
  const auto size = s.x[0].shape().span().last(static_cast<std::size_t>(op.output_size.rank()));
  return one(s, [&] {
    return client::apply(ir::InterpolateGrad{ir::Dims{size}, op.mode, op.align_corners}, s.g, s.site);
  });
}

OperandGradients rule(const ir::InterpolateGrad& op, const TapedOp& s) {
  const auto size = s.x[0].shape().span().last(static_cast<std::size_t>(op.input_size.rank()));
  return one(s, [&] { return client::apply(ir::Interpolate{ir::Dims{size}, op.mode, op.align_corners}, s.g, s.site); });
}

}  // namespace burn::autodiff::grad_rules
