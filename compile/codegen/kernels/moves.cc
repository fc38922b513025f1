// The ops that are copies of views, of every device whose target copies.
#include "compile/codegen/kernels/lower.h"

namespace burn::compile::kernels {
namespace {

View part_of(View whole, const ir::Dims& starts, const ir::Shape& sizes, const ir::Dims& steps) {
  std::int64_t first = 0;
  for (int d = 0; d < whole.rank(); ++d) {
    first += starts[d] * whole.strides[d];
    whole.strides[d] *= steps[d];
  }
  whole.shape = sizes;
  whole.address.offset += first * static_cast<std::int64_t>(ir::size_of(whole.dtype));
  return whole;
}

}  // namespace

// What is lowered is no view: the elements have to be put into order first.
Status lower(Emitter& emit, const ir::Reshape&, const NodeInPlan& at) {
  const auto from = emit.read(at.operand(0));
  auto to = emit.result(at.result());
  to.shape = from.shape;
  to.strides = ir::contiguous_strides(from.shape);
  emit.copy(from, to);
  return {};
}

Status lower(Emitter& emit, const ir::SliceAssign& op, const NodeInPlan& at) {
  const auto from = emit.read(at.operand(0));
  const auto values = emit.read(at.operand(1));
  const auto to = emit.result(at.result());
  // In place only where the values do not lie in what is written.
  const bool is_apart = values.address.base != from.address.base || values.address.index != from.address.index;
  if (from.is_contiguous() && is_apart) emit.allow_in_place(from, at.result());
  emit.copy(from, to);
  if (values.num_elements() > 0) emit.copy(values, part_of(to, op.starts, values.shape, op.steps));
  return {};
}

Status lower(Emitter& emit, const ir::Concat& op, const NodeInPlan& at) {
  const auto to = emit.result(at.result());
  auto starts = ir::Dims::filled(to.rank(), 0);
  const auto steps = ir::Dims::filled(to.rank(), 1);
  const int axis = static_cast<int>(op.axis);
  for (int k = 0; k < at.operand_count(); ++k) {
    auto part = View{{}, emit.type_of(at.operand(k)).dtype, emit.type_of(at.operand(k)).shape, {}};
    if (!emit.is_in_place(at.operand(k))) part = emit.read(at.operand(k));
    if (part.num_elements() > 0 && !emit.is_in_place(at.operand(k)))
      emit.copy(part, part_of(to, starts, part.shape, steps));
    starts[axis] += part.shape[axis];
  }
  return {};
}

}  // namespace burn::compile::kernels
