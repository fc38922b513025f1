#include "autodiff/rule_list.h"

namespace burn::autodiff {

using client::apply;

namespace grad_rules {

// Convolution and its two adjoints are linear in each operand; the gradients of each are the other two.
ir::Dims spatial(const Value& x) { return ir::Dims{x.shape().span().subspan(2)}; }

OperandGradients rule(const ir::Conv& op, const TapedOp& s) {
  return two(
      s,
      [&] {
        return apply(ir::ConvInputGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, spatial(s.x[0]), op.groups},
                     s.g, s.x[1], s.site);
      },
      [&] {
        return apply(ir::ConvWeightGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, spatial(s.x[1]), op.groups},
                     s.x[0], s.g, s.site);
      });
}

OperandGradients rule(const ir::ConvInputGrad& op, const TapedOp& s) {
  return two(
      s,
      [&] {
        return apply(ir::Conv{op.stride, op.pad_begin, op.pad_end, op.dilation, op.groups}, s.g, s.x[1], s.site);
      },
      [&] {
        return apply(ir::ConvWeightGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, spatial(s.x[1]), op.groups},
                     s.g, s.x[0], s.site);
      });
}

OperandGradients rule(const ir::ConvWeightGrad& op, const TapedOp& s) {
  return two(
      s,
      [&] {
        return apply(ir::ConvInputGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, spatial(s.x[0]), op.groups},
                     s.x[1], s.g, s.site);
      },
      [&] {
        return apply(ir::Conv{op.stride, op.pad_begin, op.pad_end, op.dilation, op.groups}, s.x[0], s.g, s.site);
      });
}

OperandGradients rule(const ir::AvgPool& op, const TapedOp& s) {
  return one(s, [&] {
    return apply(ir::AvgPoolGrad{op.kernel, op.stride, op.padding,
                                 ir::Dims{s.x[0].shape().span().last(static_cast<std::size_t>(op.kernel.rank()))},
                                 op.count_include_pad, op.ceil_mode},
                 s.g, s.site);
  });
}

OperandGradients rule(const ir::AvgPoolGrad& op, const TapedOp& s) {
  return one(s, [&] {
    return apply(ir::AvgPool{op.kernel, op.stride, op.padding, op.count_include_pad, op.ceil_mode}, s.g, s.site);
  });
}

// The operand's gradient of pools that return elements and their positions in the flattened spatial dims.
OperandGradients to_positions(const TapedOp& s) {
  return one(s, [&] { return client::max_pool_grad(s.x[0], s.ys[1], s.g, s.site); });
}

OperandGradients rule(const ir::MaxPool&, const TapedOp& s) { return to_positions(s); }

OperandGradients rule(const ir::AdaptiveMaxPool&, const TapedOp& s) { return to_positions(s); }

OperandGradients rule(const ir::AdaptiveAvgPool& op, const TapedOp& s) {
  const auto size = s.x[0].shape().span().last(static_cast<std::size_t>(op.output_size.rank()));
  return one(s, [&] { return apply(ir::AdaptiveAvgPoolGrad{ir::Dims{size}}, s.g, s.site); });
}

OperandGradients rule(const ir::AdaptiveAvgPoolGrad& op, const TapedOp& s) {
  const auto size = s.x[0].shape().span().last(static_cast<std::size_t>(op.input_size.rank()));
  return one(s, [&] { return apply(ir::AdaptiveAvgPool{ir::Dims{size}}, s.g, s.site); });
}

}  // namespace grad_rules
}  // namespace burn::autodiff
