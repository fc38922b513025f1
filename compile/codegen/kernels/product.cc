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
  const auto compute = ir::compute_dtype(c.dtype);
  TileGrid grid{.rows = rows, .columns = columns, .groups = batch.count};
  grid.choose_tile(emit.target().facts(), compute, std::int64_t{emit.target().facts().multiprocessors} * 64);
  std::int64_t most = grid.threads();
  for (const auto* view : views) most = std::max(most, reach(*view));

  kernel::Writer writer(64);
  Arguments arguments(writer, index_type(most));
  const auto from = arguments.address(a), by = arguments.address(b), into = arguments.address(c);
  const auto added = bias ? arguments.address(*bias) : kernel::Memory{};
  const Line first(a), second(b), result(c), addend(bias ? *bias : c);
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
    const Value c_row = arguments.number(result.row), c_column = arguments.number(result.column);
    const Value bias_row = bias ? arguments.number(addend.row) : c_row;
    const Value bias_column = bias ? arguments.number(addend.column) : c_column;
    each_inside(writer, arguments, grid, place, sums, [&](std::size_t i, std::size_t j, Value sum) {
      const Value row = place.rows[i], column = place.columns[j];
      if (bias)
        sum = kernel::rounded(c.dtype, sum) + writer.load(added, begins[3] + row * bias_row + column * bias_column);
      writer.store(into, begins[2] + row * c_row + column * c_column, sum);
    });
  });
  arguments.launch(emit, grid.threads());
  return {};
}

}  // namespace burn::compile::kernels
