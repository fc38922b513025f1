// Copies between views, and the ops that are copies.
#include "backends/cuda/lower/moves.h"

#include <fmt/format.h>

#include "backends/cuda/device/device.h"
#include "backends/cuda/lower/lower.h"
#include "compile/codegen/operands.h"
#include "compile/codegen/walks.h"

namespace burn::backends::cuda {
namespace {

const char* word_of(ir::DType dtype) {
  switch (ir::size_of(dtype)) {
    case 1:
      return "std::uint8_t";
    case 2:
      return "std::uint16_t";
    case 4:
      return "std::uint32_t";
    default:
      return "std::uint64_t";
  }
}

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

// Copies by a kernel: several small copies in a row become one launch.
void emit_copy_kernel(Emitter& emit, const View& from, const View& to) {
  const auto dims = [](const ir::Dims& of) { return std::vector<std::int64_t>(of.begin(), of.end()); };
  const auto walk = compile::merge_dims(to.shape.span(), {dims(from.strides), dims(to.strides)});
  const View views[] = {from, to};
  int width = compile::vector_width(walk, views, 8);
  const bool has_dims = !walk.sizes.empty();
  if (!has_dims || walk.strides[0].back() != 1 || walk.strides[1].back() != 1 || walk.sizes.back() % width != 0)
    width = 1;
  const std::string word = word_of(to.dtype);
  auto kernel = std::make_shared<const BlockKernel>(BlockKernel{
      "#include \"backends/cuda/kernels/copy.h\"\nnamespace burn::ir::prelude {\nusing namespace burn::cuda;\n",
      {{"const " + word + "*", "from"}, {word + "*", "to"}, {"std::int64_t", "vectors"}, {"Walk<2>", "walk"}},
      fmt::format("  copy_elements<{}, {}>(block, from, to, vectors, walk);\n", word, width)});
  const auto vectors = to.num_elements() / width;
  emit.launch(std::move(kernel), (vectors + 255) / 256, {from, to, vectors, compile::walk_argument(walk)},
              {to.address});
}

}  // namespace

void emit_copy(Emitter& emit, const View& from, const View& to) {
  const auto elements = to.num_elements();
  if (elements == 0) return;
  if (from.is_contiguous() && to.is_contiguous()) {
    const auto bytes = static_cast<std::size_t>(elements) * ir::size_of(to.dtype);
    emit.call([from = from.address, to = to.address, bytes](const Bindings& bindings, CUstream stream) -> Status {
      if (bindings.at(from) == bindings.at(to)) return {};  // in place
      return check(driver().cuMemcpyDtoDAsync(bindings.at(to), bindings.at(from), bytes, stream), "cuMemcpyDtoDAsync");
    });
    return;
  }
  emit_copy_kernel(emit, from, to);
}

namespace lowering {

Status lower(Emitter& emit, const ir::Reshape& op, const NodeInPlan& at) {
  // A Reshape that is lowered is not a view: its elements must be put into order first.
  auto from = emit.read(at.operand(0));
  auto to = emit.result(at.result());
  to.shape = from.shape;
  to.strides = ir::contiguous_strides(from.shape);
  static_cast<void>(op);
  emit.copy(from, to);
  return {};
}

// Never lowered, as they are views (compile/plan/views.h).
Status lower(Emitter&, const ir::Permute&, const NodeInPlan&) { return internal_error("a view is not computed"); }
Status lower(Emitter&, const ir::Expand&, const NodeInPlan&) { return internal_error("a view is not computed"); }
Status lower(Emitter&, const ir::Slice&, const NodeInPlan&) { return internal_error("a view is not computed"); }
Status lower(Emitter&, const ir::Place&, const NodeInPlan&) { return internal_error("a view is not computed"); }

Status lower(Emitter& emit, const ir::SliceAssign& op, const NodeInPlan& at) {
  const auto from = emit.read(at.operand(0));
  const auto values = emit.read(at.operand(1));
  const auto to = emit.result(at.result());
  // In place only if the values are not in the memory that is written.
  const bool is_apart = values.address.base != from.address.base || values.address.index != from.address.index;
  if (from.is_contiguous() && is_apart) emit.allow_in_place(from, at.result());
  emit.copy(from, to);
  if (values.num_elements() > 0) emit.copy(values, part_of(to, op.starts, values.shape, op.steps));
  return {};
}

Status lower(Emitter& emit, const ir::Concat& op, const NodeInPlan& at) {
  constexpr std::int64_t kFewElements = 1 << 16;  // above, a copy by the driver is as fast as the launch that it saves
  const auto to = emit.result(at.result());
  auto starts = ir::Dims::filled(to.rank(), 0);
  const auto steps = ir::Dims::filled(to.rank(), 1);
  const int axis = static_cast<int>(op.axis);
  for (int k = 0; k < at.operand_count(); ++k) {
    auto part = View{{}, emit.type_of(at.operand(k)).dtype, emit.type_of(at.operand(k)).shape, {}};
    if (!emit.is_in_place(at.operand(k))) part = emit.read(at.operand(k));
    if (part.num_elements() > 0 && !emit.is_in_place(at.operand(k))) {
      const auto place = part_of(to, starts, part.shape, steps);
      if (part.num_elements() <= kFewElements)
        emit_copy_kernel(emit, part, place);
      else
        emit.copy(part, place);
    }
    starts[axis] += part.shape[axis];
  }
  return {};
}

}  // namespace lowering
}  // namespace burn::backends::cuda
