#include "compile/codegen/kernels/product.h"

#include <algorithm>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/arguments.h"
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

}  // namespace

Status emit_product(Emitter& emit, const View& a, const View& b, const View& c, const std::optional<View>& bias) {
  const auto rows = c.shape[c.rank() - 2], columns = c.shape[c.rank() - 1], depth = a.shape[a.rank() - 1];
  if (c.num_elements() == 0) return {};
  std::vector<const View*> views{&a, &b, &c};
  if (bias) views.push_back(&*bias);
  const Batch batch(views);
  const auto tile = choose_tile(rows, columns, std::int64_t{emit.target().facts().multiprocessors} * 64 / batch.count);
  const auto tiles_down = (rows + tile.rows - 1) / tile.rows,
             tiles_across = (columns + tile.columns - 1) / tile.columns;
  const auto threads = tiles_down * tiles_across * batch.count;
  std::int64_t most = threads;
  for (const auto* view : views) most = std::max(most, reach(*view));

  kernel::Writer writer(64);
  Arguments arguments(writer, index_type(most));
  const auto from = arguments.address(a), by = arguments.address(b), into = arguments.address(c);
  const auto added = bias ? arguments.address(*bias) : kernel::Memory{};
  const Line first(a), second(b), result(c), addend(bias ? *bias : c);
  const Value position = arguments.position();
  writer.when(position < arguments.number(threads), [&] {
    const Value row_count = arguments.number(rows), column_count = arguments.number(columns);
    const Value down = arguments.number(tiles_down), across = arguments.number(tiles_across);
    const Value lines = position / across, column = position - lines * across, matrix = lines / down;
    const Value row = (lines - matrix * down) * tile.rows;
    const auto begins = batch.offsets(arguments, matrix);
    // A tile's columns lie apart, so that neighbouring threads read neighbouring ones. Beyond the edge the last row or
    // column is read again.
    std::vector<Value> at_row, at_column, first_at, second_at;
    const Value a_row = arguments.number(first.row), b_column = arguments.number(second.column);
    for (int i = 0; i < tile.rows; ++i) {
      at_row.push_back(row + i);
      first_at.push_back(begins[0] + least(at_row.back(), row_count - 1) * a_row);
    }
    for (int j = 0; j < tile.columns; ++j) {
      at_column.push_back(column + across * j);
      second_at.push_back(begins[1] + least(at_column.back(), column_count - 1) * b_column);
    }
    const Value a_step = arguments.number(first.column), b_step = arguments.number(second.row);
    Value at;
    const auto sums = multiply_tile(
        writer, ir::compute_dtype(c.dtype), tile,
        {.first = [&](int i) { return writer.load(from, first_at[static_cast<std::size_t>(i)] + at * a_step); },
         .second = [&](int j) { return writer.load(by, second_at[static_cast<std::size_t>(j)] + at * b_step); },
         .depth =
             [&](const std::function<void()>& body) {
               writer.loop(arguments.number(depth), [&](Value k) {
                 at = k;
                 body();
               });
             }});
    const Value c_row = arguments.number(result.row), c_column = arguments.number(result.column);
    const Value bias_row = bias ? arguments.number(addend.row) : c_row;
    const Value bias_column = bias ? arguments.number(addend.column) : c_column;
    for (std::size_t i = 0; i < at_row.size(); ++i) {
      for (std::size_t j = 0; j < at_column.size(); ++j) {
        writer.when(at_row[i] < row_count && at_column[j] < column_count, [&] {
          Value sum = sums[i * at_column.size() + j];
          if (bias)
            sum = kernel::rounded(c.dtype, sum) +
                  writer.load(added, begins[3] + at_row[i] * bias_row + at_column[j] * bias_column);
          writer.store(into, begins[2] + at_row[i] * c_row + at_column[j] * c_column, sum);
        });
      }
    }
  });
  arguments.launch(emit, threads);
  return {};
}

}  // namespace burn::compile::kernels
