#include "autodiff/rule_list.h"

namespace burn::autodiff {

using client::apply;

namespace grad_rules {

OperandGradients rule(const ir::Reshape&, const TapedOp& s) {
  return one(s, [&] { return client::reshape(s.g, s.x[0].shape(), s.site); });
}

// The gradient needs no Place of its own: its placement follows from the values that it is computed from.
OperandGradients rule(const ir::Place&, const TapedOp& s) {
  return one(s, [&] { return s.g; });
}

OperandGradients rule(const ir::Permute& op, const TapedOp& s) {
  ir::Dims inverse = op.axes;
  for (int i = 0; i < op.axes.rank(); ++i) inverse[static_cast<int>(op.axes[i])] = i;
  return one(s, [&] { return client::permute(s.g, inverse, s.site); });
}

OperandGradients rule(const ir::Expand&, const TapedOp& s) {
  return one(s, [&] { return client::sum_to(s.g, s.x[0].shape(), s.site); });
}

OperandGradients rule(const ir::Slice& op, const TapedOp& s) {
  return one(s, [&] { return apply(ir::SliceAssign{op.starts, op.steps}, zeros_like(s.x[0], s), s.g, s.site); });
}

OperandGradients rule(const ir::SliceAssign& op, const TapedOp& s) {
  return two(
      s, [&] { return apply(op, s.g, zeros_like(s.x[1], s), s.site); },
      [&] {
        return apply(ir::Slice{op.starts, s.x[1].shape(), op.steps}, s.g, s.site);
      });
}

OperandGradients rule(const ir::Concat& op, const TapedOp& s) {
  OperandGradients result(s.x.size());
  std::int64_t start = 0;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const auto length = s.x[i].shape()[static_cast<int>(op.axis)];
    if (s.needs[i]) result[i] = client::narrow(s.g, op.axis, start, length, s.site);
    start += length;
  }
  return result;
}

// Scatters g to the index, with zeros elsewhere, for an index with one number per line: as a formula it is fused with
// the ops around it, whereas a scatter would write the result to memory, zeros included. An index out of range is an
// error here, as of a scatter: the forward gather that would report it does not run if its result is not read.
Value at_index(const Value& g, const ir::Shape& shape, int axis, const Value& index, const ir::CallSite& site) {
  constexpr std::int64_t kExactInF32 = 1 << 24;
  const auto dtype = shape[axis] <= kExactInF32 ? ir::DType::f32 : ir::DType::i64;
  ir::Shape line = ir::Shape::filled(shape.rank(), 1);
  line[axis] = shape[axis];
  const auto place = client::place_of(g);
  const Value positions = client::arange(place, 0, shape[axis], 1, dtype, site);
  const Value known = client::known_classes(index.inner(), positions, site);
  const Value is_there = client::pointwise(Fn::equal, client::reshape(positions, line, site), known, site);
  return client::select(is_there, g, client::filled(place, g.shape(), 0, g.dtype(), site), site);
}

OperandGradients rule(const ir::Gather& op, const TapedOp& s) {
  return one(s, [&] {
    const auto axis = static_cast<int>(op.axis);
    if (s.x[1].dim(axis) == 1) return at_index(s.g, s.x[0].shape(), axis, s.x[1], s.site);
    return client::scatter(zeros_like(s.x[0], s), op.axis, s.x[1], s.g, ir::ScatterFn::add, s.site);
  });
}

// Except for add, targets are assumed to be distinct.
OperandGradients rule(const ir::Scatter& op, const TapedOp& s) {
  const Value &x = s.x[0], &index = s.x[1], &values = s.x[2];
  const auto gathered = [&](const Value& v) { return client::gather(v, op.axis, index, s.site); };
  const auto to_x = [&]() -> Value {
    switch (op.fn) {
      case ir::ScatterFn::add:
        return s.g;
      case ir::ScatterFn::assign:
        return client::scatter(s.g, op.axis, index, zeros(values.shape(), s), op.fn, s.site);
      case ir::ScatterFn::mul:
        return client::scatter(s.g, op.axis, index, values, op.fn, s.site);
      case ir::ScatterFn::max:
      case ir::ScatterFn::min:
        return select(x == s.y, s.g, 0.0);
    }
    return {};
  };
  const auto to_values = [&]() -> Value {
    switch (op.fn) {
      case ir::ScatterFn::add:
      case ir::ScatterFn::assign:
        return gathered(s.g);
      case ir::ScatterFn::mul:
        return gathered(s.g * x);
      case ir::ScatterFn::max:
        return select(values > gathered(x), gathered(s.g), 0.0);
      case ir::ScatterFn::min:
        return select(values < gathered(x), gathered(s.g), 0.0);
    }
    return {};
  };
  OperandGradients result(3);
  if (s.needs[0]) result[0] = to_x();
  if (s.needs[2]) result[2] = to_values();
  return result;
}

}  // namespace grad_rules
}  // namespace burn::autodiff
