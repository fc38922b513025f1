#include "compile/codegen/kernels/tile.h"

#include <algorithm>
#include <bit>

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

}  // namespace

std::int64_t wanted_threads(const DeviceFacts& facts) {
  return std::int64_t{facts.multiprocessors} * (facts.has_slow_barriers ? 64 : 512);
}

std::int64_t TileGrid::down() const { return divide_up(rows, tile.rows); }
std::int64_t TileGrid::across() const { return divide_up(divide_up(columns, tile.columns), tile.lanes) * tile.lanes; }

void TileGrid::choose_tile(const DeviceFacts& facts, ir::DType type, std::int64_t wanted) {
  constexpr std::int64_t kMaxSide = 8, kMaxShared = 32;
  const auto lanes = facts.subgroup_size;
  const auto powers_up_to = [](std::int64_t most, std::int64_t size) {
    return static_cast<int>(
        std::bit_floor(static_cast<std::uint64_t>(std::min(most, std::max<std::int64_t>(size, 1)))));
  };
  // Loads cost most where barriers are slow, too: such a device loads for each lane by itself.
  if (facts.has_slow_barriers && type == ir::DType::f32 && lanes > 1 && lanes <= 32 &&
      columns >= std::int64_t{2} * lanes && rows > 1) {
    tile.lanes = lanes;
    tile.rows = static_cast<int>(divide_up(rows, divide_up(rows, kMaxShared)));
    if (tile.rows > 16) tile.rows = (tile.rows + 3) / 4 * 4;  // few different kernels for shapes that grow
    tile.columns = powers_up_to(tile.rows > 16 ? 4 : kMaxSide, columns / lanes);
    while (threads() < std::min(wanted, std::int64_t{4} * lanes) && tile.columns > 1) tile.columns /= 2;
    return;
  }
  tile = {powers_up_to(kMaxSide, rows), powers_up_to(kMaxSide, columns), 1};
  while (threads() < wanted && tile.rows * tile.columns > 4) {
    auto& larger = tile.rows > tile.columns ? tile.rows : tile.columns;
    larger /= 2;
  }
}

void each_tile(kernel::Writer& writer, Arguments& arguments, const TileGrid& grid,
               const std::function<void(const TilePlace& place)>& body) {
  const auto& tile = grid.tile;
  const Value thread = arguments.position(), threads = arguments.number(grid.threads());
  const Value is_one = thread < threads;
  const auto place_of = [&](Value position) {
    const Value across = arguments.number(grid.across()), down = arguments.number(grid.down());
    const Value groups = arguments.number(grid.groups);
    const Value lines = position / across, column = position - lines * across;
    const Value stacks = lines / down, row = (lines - stacks * down) * tile.rows;
    TilePlace place;
    place.is_one = is_one;
    place.part = stacks / groups;
    place.group = stacks - place.part * groups;
    const Value last_row = arguments.number(grid.rows - 1), last_column = arguments.number(grid.columns - 1);
    for (int i = 0; i < tile.rows; ++i) place.rows.push_back(row + i);
    for (int i = 0; i < tile.rows; i += tile.lanes) {
      const Value of_lane = tile.lanes == 1 ? row + i : row + arguments.thread() % tile.lanes + i;
      place.loaded_rows.push_back(least(of_lane, last_row));
    }
    // A tile's columns lie apart, so that neighbouring threads read neighbouring ones.
    for (int j = 0; j < tile.columns; ++j) {
      place.columns.push_back(column + across * j);
      place.in_columns.push_back(least(place.columns.back(), last_column));
    }
    return place;
  };
  if (tile.lanes == 1)
    writer.when(is_one, [&] { body(place_of(thread)); });
  else
    body(place_of(least(thread, threads - 1)));
}

Values multiply_tile(kernel::Writer& writer, ir::DType type, const Tile& tile, const TileSource& source) {
  const auto rows = static_cast<std::size_t>(tile.rows), columns = static_cast<std::size_t>(tile.columns);
  const auto lanes = static_cast<std::size_t>(tile.lanes);
  std::vector<Variable> sums;
  for (std::size_t i = 0; i < rows * columns; ++i)
    sums.push_back(writer.variable(writer.constant(type, std::int64_t{0})));
  source.depth([&] {
    Values of_rows, of_columns;
    for (std::size_t k = 0; k * lanes < rows; ++k) of_rows.push_back(source.row(k));
    for (std::size_t column = 0; column < columns; ++column) of_columns.push_back(source.column(column));
    for (std::size_t row = 0; row < rows; ++row) {
      const Value loaded = of_rows[row / lanes];
      const Value a = lanes == 1 ? loaded : writer.broadcast(loaded, static_cast<int>(row % lanes));
      for (std::size_t column = 0; column < columns; ++column) {
        const auto& at = sums[row * columns + column];
        const Value b = of_columns[column], sum = at.get();
        at.set(ir::is_floating(type) ? fused_multiply_add(a, b, sum) : sum + a * b);
      }
    }
  });
  Values results;
  for (const auto& sum : sums) results.push_back(sum.get());
  return results;
}

void each_inside(kernel::Writer& writer, Arguments& arguments, const TileGrid& grid, const TilePlace& place,
                 const Values& sums, const std::function<void(std::size_t, std::size_t, Value)>& store) {
  const Value rows = arguments.number(grid.rows), columns = arguments.number(grid.columns);
  for (std::size_t i = 0; i < place.rows.size(); ++i) {
    for (std::size_t j = 0; j < place.columns.size(); ++j) {
      writer.when(place.is_one && place.rows[i] < rows && place.columns[j] < columns,
                  [&] { store(i, j, sums[i * place.columns.size() + j]); });
    }
  }
}

Value least(Value a, Value b) { return select(b < a, b, a); }

}  // namespace burn::compile::kernels
