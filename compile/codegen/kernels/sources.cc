// Ops that make elements from nothing. What a group can make is made there.
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/random.h"
#include "compile/codegen/kernels/lines.h"
#include "compile/codegen/kernels/lower.h"

namespace burn::compile::kernels {

Status lower(Emitter& emit, const ir::Iota& op, const NodeInPlan& at) {
  const auto to = emit.result(at.result());
  if (op.size == 0) return {};
  kernel::Writer writer(256);
  Arguments arguments(writer, ir::DType::i64);
  const auto target = arguments.address(to);
  const auto position = arguments.position();
  writer.when(position < arguments.number(op.size),
              [&] { writer.store(target, position, kernel::cast(op.dtype, position)); });
  arguments.launch(emit, op.size);
  return {};
}

// A box whose elements do not follow each other in the whole value.
Status lower(Emitter& emit, const ir::Random& op, const NodeInPlan& at) {
  const auto result = emit.result(at.result());
  const auto elements = result.num_elements();
  if (elements == 0) return {};
  const auto whole = ir::contiguous_strides(op.whole_shape());
  std::int64_t first = 0;
  for (int d = 0; d < op.starts.rank(); ++d) first += op.starts[d] * whole[d];
  const auto walk = merge_dims(op.shape.span(), {std::vector<std::int64_t>(whole.begin(), whole.end())});
  kernel::Writer writer(256);
  Arguments arguments(writer, ir::DType::i64);
  const auto target = arguments.address(result);
  const auto bindings = arguments.address(ir::DType::u64, Address{.base = Address::Base::bindings});
  const auto block = arguments.number(op.offset), begin = arguments.number(first);
  const auto position = arguments.position();
  writer.when(position < arguments.number(elements), [&] {
    const auto seed = writer.load(bindings, writer.index(0)), offset = writer.load(bindings, writer.index(1));
    const auto place = begin + offsets_in(arguments, walk, position)[0];
    writer.store(target, position,
                 kernel::random_at(op.fn, op.dtype, seed, offset + kernel::to(ir::DType::u64, block),
                                   kernel::to(ir::DType::u64, place)));
  });
  arguments.launch(emit, elements);
  return {};
}

}  // namespace burn::compile::kernels
