#include "compile/codegen/kernels/product.h"

#include <algorithm>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/block_tile.h"
#include "compile/codegen/kernels/tile.h"
#include "compile/codegen/operands.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

// Where the matrices of a batch begin.
struct Batch {
  WalkPlan walk;
  std::int64_t count = 1;

  explicit Batch(std::span<const View* const> views) {
    const int rank = views[0]->rank() - 2;
    std::vector<std::vector<std::int64_t>> strides;
    for (const auto* view : views) strides.emplace_back(view->strides.begin(), view->strides.begin() + rank);
    const auto sizes = views[0]->shape.span().first(static_cast<std::size_t>(rank));
    for (const auto size : sizes) count *= size;
    walk = merge_dims(sizes, strides);
  }

  // Of each view.
  std::vector<Value> offsets(Arguments& arguments, Value position) const {
    std::vector<Value> offsets(walk.strides.size(), arguments.constant(0));
    if (count == 1) return offsets;
    Value rest = position;
    for (std::size_t d = walk.sizes.size(); d-- > 0;) {
      const Value size = arguments.number(walk.sizes[d]), before = rest / size, place = rest - before * size;
      for (std::size_t k = 0; k < offsets.size(); ++k) {
        if (walk.strides[k][d] != 0) offsets[k] = offsets[k] + place * arguments.number(walk.strides[k][d]);
      }
      rest = before;
    }
    return offsets;
  }
};

struct Line {  // of a matrix: how far apart its rows are, or its columns
  std::int64_t row, column;
  explicit Line(const View& view) : row(view.strides[view.rank() - 2]), column(view.strides[view.rank() - 1]) {}
};

struct Operands {
  const View &a, &b, &c;
  const std::optional<View>& bias;

  Batch batch() const {
    std::vector<const View*> views{&a, &b, &c};
    if (bias) views.push_back(&*bias);
    return Batch(views);
  }
  std::int64_t most(std::int64_t threads) const {
    for (const auto* view : {&a, &b, &c}) threads = std::max(threads, reach(*view));
    return bias ? std::max(threads, reach(*bias)) : threads;
  }
};

// Stores sums as elements of c, with the bias.
class Result {
 public:
  Result(kernel::Writer& writer, Arguments& arguments, const Operands& operands)
      : writer_(writer),
        dtype_(operands.c.dtype),
        has_bias_(operands.bias.has_value()),
        into_(arguments.address(operands.c)) {
    const Line line(operands.c);
    row_ = arguments.number(line.row), column_ = arguments.number(line.column);
    if (!has_bias_) return;
    added_ = arguments.address(*operands.bias);
    const Line of_bias(*operands.bias);
    bias_row_ = arguments.number(of_bias.row), bias_column_ = arguments.number(of_bias.column);
  }
  // `begins`: of the batch's matrices (Operands::batch).
  void store(const std::vector<Value>& begins, Value row, Value column, Value sum) const {
    if (has_bias_) {
      const Value bias = writer_.load(added_, begins[3] + row * bias_row_ + column * bias_column_);
      sum = kernel::rounded(dtype_, sum) + bias;
    }
    writer_.store(into_, begins[2] + row * row_ + column * column_, sum);
  }

 private:
  kernel::Writer& writer_;
  ir::DType dtype_;
  bool has_bias_;
  kernel::Memory into_, added_;
  Value row_, column_, bias_row_, bias_column_;
};

// The sums of parts of the depth [parts, batch, rows, columns], one after the other.
void add_parts(Emitter& emit, const View& parts, const BlockGrid& grid, const Operands& operands) {
  const auto elements = grid.groups * grid.rows * grid.columns;
  kernel::Writer writer(64);
  Arguments arguments(writer, index_type(operands.most(parts.num_elements())));
  const auto from = arguments.address(parts);
  const Result result(writer, arguments, operands);
  const Value position = arguments.position(), size = arguments.number(elements);
  writer.when(position < size, [&] {
    const auto sum = writer.variable(writer.constant(parts.dtype, 0.0));
    writer.loop(arguments.number(grid.parts),
                [&](Value part) { sum.set(sum.get() + writer.load(from, part * size + position)); });
    const Value columns = arguments.number(grid.columns), rows = arguments.number(grid.rows);
    const Value line = position / columns, group = line / rows;
    result.store(operands.batch().offsets(arguments, group), line - group * rows, position - line * columns, sum.get());
  });
  arguments.launch(emit, elements);
}

Status emit_in_blocks(Emitter& emit, const Operands& operands, const BlockGrid& grid) {
  const auto compute = ir::compute_dtype(operands.c.dtype);
  std::optional<View> parts;
  if (grid.parts > 1) parts = emit.scratch_value({compute, {grid.parts, grid.groups, grid.rows, grid.columns}});
  kernel::Writer writer(grid.tile.threads());
  const auto most = operands.most(std::max(grid.threads(), parts ? parts->num_elements() : 0));
  Arguments arguments(writer, index_type(most));
  const auto from = arguments.address(operands.a), by = arguments.address(operands.b);
  const auto into = parts ? arguments.address(*parts) : kernel::Memory{};
  std::optional<Result> result;
  if (!parts) result.emplace(writer, arguments, operands);
  each_block(writer, arguments, grid, [&](const BlockPlace& place) {
    const auto begins = operands.batch().offsets(arguments, place.group);
    const auto source = [&](kernel::Memory memory, Value begin, std::int64_t line_step, std::int64_t depth_step) {
      const Value of_line = arguments.number(line_step), of_depth = arguments.number(depth_step);
      return BlockSource{.line =
                             [&writer, memory, begin, of_line, of_depth](Value line) {
                               const Value at = begin + line * of_line;
                               return [&writer, memory, at, of_depth](Value depth) {
                                 return writer.load(memory, at + depth * of_depth);
                               };
                             },
                         .is_depth_contiguous = depth_step == 1};
    };
    const Line a(operands.a), b(operands.b);
    multiply_block(writer, arguments, compute, grid, place, source(from, begins[0], a.row, a.column),
                   source(by, begins[1], b.column, b.row), [&](Value row, Value column, Value sum) {
                     if (!parts) return result->store(begins, row, column, sum);
                     const Value stack = place.part * arguments.number(grid.groups) + place.group;
                     const Value line = stack * arguments.number(grid.rows) + row;
                     writer.store(into, line * arguments.number(grid.columns) + column, sum);
                   });
  });
  arguments.launch(emit, grid.threads());
  if (parts) add_parts(emit, *parts, grid, operands);
  return {};
}

}  // namespace

Status emit_product(Emitter& emit, const View& a, const View& b, const View& c, const std::optional<View>& bias) {
  const auto rows = c.shape[c.rank() - 2], columns = c.shape[c.rank() - 1], depth = a.shape[a.rank() - 1];
  if (c.num_elements() == 0) return {};
  const Operands operands{a, b, c, bias};
  const Batch batch = operands.batch();
  const auto compute = ir::compute_dtype(c.dtype);
  if (const auto blocks = BlockGrid::choose(emit.target().facts(), compute, rows, columns, depth, batch.count))
    return emit_in_blocks(emit, operands, *blocks);
  TileGrid grid{.rows = rows, .columns = columns, .groups = batch.count};
  grid.choose_tile(emit.target().facts(), compute, wanted_threads(emit.target().facts()));

  kernel::Writer writer(64);
  Arguments arguments(writer, index_type(operands.most(grid.threads())));
  const auto from = arguments.address(a), by = arguments.address(b);
  const Result result(writer, arguments, operands);
  const Line first(a), second(b);
  each_tile(writer, arguments, grid, [&](const TilePlace& place) {
    const auto begins = batch.offsets(arguments, place.group);
    Values first_at, second_at;
    const Value a_row = arguments.number(first.row), b_column = arguments.number(second.column);
    for (const auto row : place.loaded_rows) first_at.push_back(begins[0] + row * a_row);
    for (const auto column : place.in_columns) second_at.push_back(begins[1] + column * b_column);
    const Value a_step = arguments.number(first.column), b_step = arguments.number(second.row);
    Value at;
    const auto sums =
        multiply_tile(writer, compute, grid.tile,
                      {.row = [&](std::size_t i) { return writer.load(from, first_at[i] + at * a_step); },
                       .column = [&](std::size_t j) { return writer.load(by, second_at[j] + at * b_step); },
                       .depth =
                           [&](const std::function<void()>& body) {
                             writer.loop(arguments.number(depth), [&](Value k) {
                               at = k;
                               body();
                             });
                           }});
    each_inside(writer, arguments, grid, place, sums, [&](std::size_t i, std::size_t j, Value sum) {
      result.store(begins, place.rows[i], place.columns[j], sum);
    });
  });
  arguments.launch(emit, grid.threads());
  return {};
}

}  // namespace burn::compile::kernels
