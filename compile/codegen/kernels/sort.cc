// Sorting: places are counted, not swapped. Blocks of a few elements first, then runs that are merged in pairs: every
// thread finds how many elements come before its own, in its block or in the other run of its pair.
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/lines.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/tile.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

constexpr std::int64_t kBlock = 32;  // elements that are sorted by looking at all of them

// Lines of `size` elements behind each other, with their indices.
struct Sorted {
  View keys, indices;
};

class Sorter {
 public:
  Sorter(Emitter& emit, ir::DType dtype, std::int64_t lines, std::int64_t size, bool descending)
      : emit_(emit), dtype_(dtype), lines_(lines), size_(size), descending_(descending) {}

  Sorted scratch() {
    return {emit_.scratch_value({dtype_, {lines_, size_}}), emit_.scratch_value({ir::DType::i64, {lines_, size_}})};
  }

  // Sorts blocks of kBlock elements each.
  void sort_blocks(const View& from, const Sorted& into) {
    kernel::Writer writer(256);
    Arguments arguments(writer, index_type(2 * lines_ * size_));
    const auto keys = arguments.address(number_type(dtype_), from.address);
    const auto to_keys = arguments.address(number_type(dtype_), into.keys.address);
    const auto to_indices = arguments.address(into.indices);
    const Value size = arguments.number(size_), position = arguments.position();
    writer.when(position < arguments.number(lines_ * size_), [&] {
      const Value line = position / size, i = position - line * size, base = line * size;
      const Value key = writer.load(keys, position);
      const Value begin = i / kBlock * kBlock;
      const auto before = writer.variable(begin);
      writer.loop(begin, least(begin + kBlock, size), arguments.constant(1), [&](Value j) {
        const Value other = writer.load(keys, base + j);
        const Value is_before = precedes(other, key) || (j < i && !precedes(key, other));
        before.set(before.get() + select(is_before, arguments.constant(1), arguments.constant(0)));
      });
      writer.store(to_keys, base + before.get(), key);
      writer.store(to_indices, base + before.get(), to(ir::DType::i64, i));
    });
    arguments.launch(emit_, lines_ * size_);
  }

  // Merges runs of `run` elements in pairs.
  void merge(const Sorted& from, const Sorted& into, std::int64_t run) {
    std::int64_t steps = 1;  // of a search in a run
    for (std::int64_t left = run; left > 0; left /= 2) ++steps;
    kernel::Writer writer(256);
    Arguments arguments(writer, index_type(2 * (lines_ * size_ + run)));
    const auto keys = arguments.address(number_type(dtype_), from.keys.address);
    const auto indices = arguments.address(from.indices);
    const auto to_keys = arguments.address(number_type(dtype_), into.keys.address);
    const auto to_indices = arguments.address(into.indices);
    const Value size = arguments.number(size_), length = arguments.number(run), rounds = arguments.number(steps);
    const Value position = arguments.position();
    writer.when(position < arguments.number(lines_ * size_), [&] {
      const Value line = position / size, i = position - line * size, base = line * size;
      const Value key = writer.load(keys, position);
      const Value pair = i / (length * 2) * (length * 2), middle = least(pair + length, size);
      const Value is_left = i < middle;
      const Value begin = select(is_left, middle, pair), end = select(is_left, least(pair + length * 2, size), middle);
      // How many of the other run come before it: of equals, those of the left run.
      const auto low = writer.variable(begin), high = writer.variable(end);
      writer.loop(rounds, [&](Value) {
        const Value lower = low.get(), upper = high.get();
        writer.when(lower < upper, [&] {
          const Value half = lower + (upper - lower) / 2;
          const Value other = writer.load(keys, base + half);
          const Value is_before = select(is_left, precedes(other, key), !precedes(key, other));
          low.set(select(is_before, half + 1, lower));
          high.set(select(is_before, upper, half));
        });
      });
      const Value own = select(is_left, i - pair, i - middle);
      const Value place = base + pair + own + (low.get() - begin);
      writer.store(to_keys, place, key);
      writer.store(to_indices, place, writer.load(indices, position));
    });
    arguments.launch(emit_, lines_ * size_);
  }

  static constexpr std::int64_t first_run() { return kBlock; }

 private:
  // NaN counts as the largest.
  static Value is_less(Value a, Value b) {
    if (!ir::is_floating(a.type)) return a < b;
    return a < b || (kernel::is_nan(b) && !kernel::is_nan(a));
  }
  Value precedes(Value a, Value b) const { return descending_ ? is_less(b, a) : is_less(a, b); }

  Emitter& emit_;
  ir::DType dtype_;
  std::int64_t lines_, size_;
  bool descending_;
};

// A view of lines behind each other as a tensor of this shape, of which `kept` elements of each line count.
View as_tensor(const View& lines, ir::Shape shape, int axis, std::int64_t kept) {
  View view = lines;
  view.strides = ir::Dims::filled(shape.rank(), 1);
  std::int64_t step = shape[axis];
  for (int d = shape.rank(); d-- > 0;) {
    if (d == axis) continue;
    view.strides[d] = step;
    step *= shape[d];
  }
  shape[axis] = kept;
  view.shape = shape;
  return view;
}

Status sort(Emitter& emit, const View& x, int axis, bool descending, const View& y, const View& positions) {
  if (y.num_elements() == 0) return {};
  const auto size = x.shape[axis], lines = x.num_elements() / size;
  Sorter sorter(emit, x.dtype, lines, size, descending);
  Sorted from = sorter.scratch(), into = sorter.scratch();
  emit.copy(x, as_tensor(into.keys, x.shape, axis, size));
  sorter.sort_blocks(into.keys, from);
  for (auto run = Sorter::first_run(); run < size; run *= 2) {
    sorter.merge(from, into, run);
    std::swap(from, into);
  }
  emit.copy(as_tensor(from.keys, x.shape, axis, y.shape[axis]), y);
  emit.copy(as_tensor(from.indices, x.shape, axis, y.shape[axis]), positions);
  return {};
}

}  // namespace

Status lower(Emitter& emit, const ir::Sort& op, const NodeInPlan& at) {
  return sort(emit, emit.read(at.operand(0)), static_cast<int>(op.axis), op.descending, emit.result(at.result(0)),
              emit.result(at.result(1)));
}

Status lower(Emitter& emit, const ir::TopK& op, const NodeInPlan& at) {
  return sort(emit, emit.read(at.operand(0)), static_cast<int>(op.axis), op.largest, emit.result(at.result(0)),
              emit.result(at.result(1)));
}

}  // namespace burn::compile::kernels
