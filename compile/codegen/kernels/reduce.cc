// Reductions: a thread combines the elements of one result, or a part of them where there are few results.
#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "compile/codegen/alternatives.h"
#include "compile/codegen/kernel/combine.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/reduce_blocks.h"
#include "compile/codegen/kernels/tile.h"
#include "compile/codegen/kernels/walk.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

// A view [results.., combined..] of the elements.
struct Elements {
  std::vector<std::int64_t> kept, combined;  // sizes
  std::vector<std::int64_t> kept_strides, combined_strides;
  std::int64_t results = 1, count = 1;  // products of the sizes
};

Elements elements_of(const View& from, const ir::Dims& axes) {
  Elements elements;
  for (int d = 0; d < from.rank(); ++d) {
    const bool is_combined = std::ranges::find(axes, std::int64_t{d}) != axes.end();
    (is_combined ? elements.combined : elements.kept).push_back(from.shape[d]);
    (is_combined ? elements.combined_strides : elements.kept_strides).push_back(from.strides[d]);
    (is_combined ? elements.count : elements.results) *= from.shape[d];
  }
  return elements;
}

// to[part, result] = the combination of every `parts`th element of the result, from element `part` on, in `accumulate`.
void combine_parts(Emitter& emit, ir::ReduceFn fn, const Elements& elements, const View& from, const View& to,
                   std::int64_t parts, ir::DType accumulate) {
  constexpr std::int64_t kRun = 64;  // elements that are added up before they are added to the others
  kernel::Writer writer(64);
  const auto threads = elements.results * parts;
  Arguments arguments(writer, index_type(std::max({threads, elements.count + kRun * parts, reach(from)})));
  const auto source = arguments.address(from), target = arguments.address(to);
  const auto kept = merge_dims(elements.kept, {elements.kept_strides});
  const auto combined = merge_dims(elements.combined, {elements.combined_strides});
  const Value position = arguments.position();
  writer.when(position < arguments.number(threads), [&] {
    const Value results = arguments.number(elements.results), count = arguments.number(elements.count);
    const Value part = parts == 1 ? arguments.constant(0) : position / results;
    const Value result = parts == 1 ? position : position - part * results;
    const Value base = offsets_in(arguments, kept, result)[0];
    const Value step = arguments.number(parts), run = step * kRun;
    const auto whole = writer.variable(kernel::identity(writer, fn, accumulate));
    writer.loop(part, count, run, [&](Value first) {
      const auto some = writer.variable(kernel::identity(writer, fn, accumulate));
      writer.loop(first, least(first + run, count), step, [&](Value i) {
        const Value element = writer.load(source, base + offsets_in(arguments, combined, i)[0]);
        some.set(kernel::combine(fn, some.get(), kernel::cast(accumulate, element)));
      });
      whole.set(kernel::combine(fn, whole.get(), some.get()));
    });
    writer.store(target, position, whole.get());
  });
  arguments.launch(emit, threads);
}

// By blocks that threads share. Of large tensors by several spreads, of which one may keep more of the memory busy.
std::vector<Alternative> ways_in_blocks(const ir::Reduce& op, const View& from) {
  constexpr std::int64_t kLarge = 4 << 20;  // bytes
  constexpr ReduceSpread kSpreads[] = {{8, 4}, {8, 8}, {16, 4}, {4, 8}};
  const bool is_large = from.num_elements() * static_cast<std::int64_t>(ir::size_of(from.dtype)) >= kLarge;
  std::vector<Alternative> ways;
  for (const auto& spread : std::span(kSpreads).first(is_large ? std::size(kSpreads) : 1)) {
    ways.push_back({fmt::format("{} blocks, {} accesses", spread.blocks, spread.accesses),
                    [op, spread](Emitter& by, std::span<const View> in, std::span<const View> out) {
                      const auto elements = elements_of(in[0], op.axes);
                      const CombinedElements blocks{
                          .kept = merge_dims(elements.kept, {elements.kept_strides}),
                          .combined = merge_dims(elements.combined, {elements.combined_strides}),
                          .results = elements.results,
                          .count = elements.count};
                      emit_reduce_in_blocks(by, op.fn, blocks, in[0], out[0], ir::compute_dtype(out[0].dtype), spread);
                      return Status{};
                    }});
  }
  return ways;
}

// The innermost strides say whether lines or columns are combined.
std::string key_of(ir::ReduceFn fn, const Elements& elements, const View& from, const View& to) {
  const auto step = [](const std::vector<std::int64_t>& strides) { return strides.empty() ? 0 : strides.back(); };
  return fmt::format("reduce {} {} to {}, {} of {} elements, steps {} and {}", ir::name(fn), ir::name(from.dtype),
                     ir::name(to.dtype), size_in_key(elements.results), size_in_key(elements.count),
                     size_in_key(std::abs(step(elements.kept_strides))),
                     size_in_key(std::abs(step(elements.combined_strides))));
}

}  // namespace

Status emit_reduce(Emitter& emit, const ir::Reduce& op, const View& from, const View& to) {
  if (to.num_elements() == 0) return {};
  constexpr std::int64_t kLeast = 256;  // elements of a part
  const auto elements = elements_of(from, op.axes);
  const auto accumulate = ir::compute_dtype(to.dtype);
  const auto& facts = emit.target().facts();
  const auto wanted = std::int64_t{facts.multiprocessors} * 64;
  const auto parts =
      std::clamp<std::int64_t>(wanted / elements.results, 1, std::max<std::int64_t>(elements.count / kLeast, 1));
  constexpr std::int64_t kMaxRounds = 60000;  // of a thread
  const bool is_too_long = facts.has_limited_loops && elements.count / parts > kMaxRounds;
  if ((!facts.has_slow_barriers || is_too_long) && elements.count > 1)
    return emit_fastest(emit, key_of(op.fn, elements, from, to), {&from, 1}, {&to, 1}, ways_in_blocks(op, from));
  if (parts == 1) {
    combine_parts(emit, op.fn, elements, from, to, 1, accumulate);
    return {};
  }
  const auto lines = emit.scratch_value({accumulate, {parts, elements.results}});
  combine_parts(emit, op.fn, elements, from, lines, parts, accumulate);
  combine_parts(emit, op.fn, elements_of(lines, {0}), lines, to, 1, accumulate);
  return {};
}

Status sum_parts(Emitter& emit, const View& parts, const View& to) {
  return emit_reduce(emit, {.fn = ir::ReduceFn::sum, .axes = {0}}, parts, to);
}

Status lower(Emitter& emit, const ir::Reduce& op, const NodeInPlan& at) {
  return emit_reduce(emit, op, emit.read(at.operand(0)), emit.result(at.result()));
}

}  // namespace burn::compile::kernels
