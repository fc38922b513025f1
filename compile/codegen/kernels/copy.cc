// Copies between views: a thread moves elements that lie side by side, or one, as whole numbers of their size.
#include <algorithm>
#include <vector>

#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/walk.h"
#include "compile/codegen/operands.h"

namespace burn::compile::kernels {
namespace {

// What is moved has no meaning here.
ir::DType word_of(ir::DType dtype) {
  switch (ir::size_of(dtype)) {
    case 1:
      return ir::DType::u8;
    case 2:
      return ir::DType::u16;
    case 4:
      return ir::DType::u32;
    default:
      return ir::DType::u64;
  }
}

}  // namespace

void emit_copy(Emitter& emit, const View& from, const View& to) {
  const auto elements = to.num_elements();
  if (elements == 0) return;
  const auto dims = [](const ir::Dims& of) { return std::vector<std::int64_t>(of.begin(), of.end()); };
  const auto walk = merge_dims(to.shape.span(), {dims(from.strides), dims(to.strides)});
  const View views[] = {from, to};
  const int width = vector_width(walk, views, 16);
  kernel::Writer writer(256);
  Arguments arguments(writer, index_type(std::max({elements + width, reach(from), reach(to)})));
  const auto word = word_of(to.dtype);
  const auto source = arguments.address(word, from.address), target = arguments.address(word, to.address);
  const auto first = width == 1 ? arguments.position() : arguments.position() * width;
  const auto count = arguments.number(elements);
  const auto move = [&](kernel::Value position, int many) {
    const auto at = offsets_in(arguments, walk, position);
    const bool repeats = walk.strides[0].back() == 0;  // one element for all
    const auto elements_at = repeats ? std::vector(static_cast<std::size_t>(many), writer.load(source, at[0]))
                                     : writer.load(source, at[0], many);
    writer.store(target, at[1], elements_at);
  };
  if (width > 1 && walk.is_linear())  // the last vector may not be whole
    writer.when(
        first + width <= count, [&] { move(first, width); },
        [&] { writer.loop(first, count, arguments.constant(1), [&](kernel::Value position) { move(position, 1); }); });
  else
    writer.when(first < count, [&] { move(first, width); });
  arguments.launch(emit, (elements + width - 1) / width);
}

}  // namespace burn::compile::kernels
