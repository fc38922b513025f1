#include "backends/cuda/lower/product.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/lower/lower.h"
#include "compile/codegen/group_kernel.h"

namespace burn::backends::cuda {
namespace {

using Kind = ProductWithEpilogue::Kind;

std::string text_of(const View& view) {
  std::string text;
  for (int d = 0; d < view.rank(); ++d)
    text += fmt::format("{}{}:{}", d > 0 ? "x" : "", view.shape[d], view.strides[d]);
  return text;
}

// The bias as a vector, from a view that repeats it in all rows.
View vector_of(const View& rows) {
  const int last = rows.rank() - 1;
  View vector = rows;
  vector.shape = {rows.shape[last]};
  vector.strides = {1};
  return vector;
}

// The sum may have the product's rows split into more dims.
Status add_bias(Emitter& emit, const ir::Program& program, const ProductWithEpilogue& what, const NodeInPlan& product,
                const NodeInPlan& sum) {
  auto into = emit.result(sum.result());
  into.shape = emit.type_of(product.result()).shape;
  into.strides = ir::contiguous_strides(into.shape);
  auto with_epilogue = multiply_with(emit, Epilogue::bias, emit.read(product.operand(0)), emit.read(product.operand(1)),
                                     into, vector_of(emit.read(what.other)));
  if (with_epilogue.ok()) return with_epilogue;
  BURN_RETURN_IF_ERROR(
      multiply(emit, emit.read(product.operand(0)), emit.read(product.operand(1)), emit.result(product.result())));
  compile::Group group;
  group.domain = program.type_of(sum.node).shape;
  group.members = {{what.neighbour, compile::Level::full}};
  const ir::Ref results[] = {sum.result()};
  return emit.target().lower_group(emit, program, group, results);
}

// The library computes the sums while it reads the operand, but its kernel may multiply more slowly.
Status sum_operand(Emitter& emit, Kind kind, const ir::Reduce& op, const NodeInPlan& product, const NodeInPlan& sums) {
  const View operands[] = {emit.read(product.operand(0)), emit.read(product.operand(1)), emit.read(sums.operand(0))};
  const View results[] = {emit.result(product.result()), emit.result(sums.result())};
  const auto epilogue = kind == Kind::first_sums ? Epilogue::a_sums : Epilogue::b_sums;
  const Alternative ways[] = {{"together",
                               [epilogue](Emitter& to, std::span<const View> from, std::span<const View> into) {
                                 return multiply_with(to, epilogue, from[0], from[1], into[0], into[1]);
                               }},
                              {"apart", [&op](Emitter& to, std::span<const View> from, std::span<const View> into) {
                                 BURN_RETURN_IF_ERROR(multiply(to, from[0], from[1], into[0]));
                                 return reduce(to, op, from[2], into[1]);
                               }}};
  const bool is_empty = std::ranges::any_of(operands, [](const View& view) { return view.num_elements() == 0; });
  if (is_empty) return ways[1].emit(emit, operands, results);
  const bool is_tf32 = results[0].dtype == ir::DType::f32 && emit.allows_tf32();
  const auto key = fmt::format("matmul and sums of {} {} ({}) ({})", kind == Kind::first_sums ? "a" : "b",
                               is_tf32 ? std::string_view("tf32") : ir::name(results[0].dtype), text_of(operands[0]),
                               text_of(operands[1]));
  return emit_fastest(emit, key, operands, results, ways);
}

}  // namespace

Status lower_product(Emitter& emit, const ir::Program& program, const ProductWithEpilogue& what) {
  const NodeInPlan product{program, program.nodes[static_cast<std::size_t>(what.product)]};
  const NodeInPlan neighbour{program, program.nodes[static_cast<std::size_t>(what.neighbour)]};
  if (what.kind == Kind::bias) return add_bias(emit, program, what, product, neighbour);
  return sum_operand(emit, what.kind, std::get<ir::Reduce>(neighbour.node.op), product, neighbour);
}

}  // namespace burn::backends::cuda
