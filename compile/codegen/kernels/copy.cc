// Copies between views: a thread moves one element, as a whole number of its size.
#include <algorithm>

#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/walk.h"

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
  kernel::Writer writer(256);
  Arguments arguments(writer, index_type(std::max({elements, reach(from), reach(to)})));
  const auto word = word_of(to.dtype);
  const auto source = arguments.address(word, from.address), target = arguments.address(word, to.address);
  const auto position = arguments.position();
  writer.when(position < arguments.number(elements), [&] {
    const auto at = offsets_in(arguments, walk, position);
    writer.store(target, at[1], writer.load(source, at[0]));
  });
  arguments.launch(emit, elements);
}

}  // namespace burn::compile::kernels
