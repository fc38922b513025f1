#include "compile/codegen/kernels/block_tile.h"

#include <algorithm>

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

constexpr BlockTile kTiles[] = {{128, 128, 16, 8, 8}, {64, 64, 16, 4, 4}, {32, 32, 16, 4, 2}};

// Elements of a shared array from one depth to the next. One more than the lines where a warp stores several depths of
// a line, which would otherwise lie in one bank.
int pitch_of(int lines, bool is_depth_contiguous) { return is_depth_contiguous ? lines + 1 : lines; }

// What one thread loads of a factor at each step of the depth, into registers and from there into the shared array.
class Loader {
 public:
  Loader(kernel::Writer& writer, Arguments& arguments, ir::DType type, const BlockTile& tile, const BlockSource& source,
         int lines, Value first, Value last)
      : writer_(writer),
        shared_(writer.shared(type, std::int64_t{tile.depth} * pitch_of(lines, source.is_depth_contiguous))),
        pitch_(pitch_of(lines, source.is_depth_contiguous)),
        zero_(writer.constant(type, 0.0)) {
    const Value thread = writer.thread();
    const auto line_at = [&](Value line) { return source.line(least(first + to(arguments.index(), line), last)); };
    const int count = lines * tile.depth / tile.threads();
    if (source.is_depth_contiguous) {
      const Value depth = thread % tile.depth, line = thread / tile.depth;
      for (int i = 0; i < count; ++i) {
        const Value mine = line + i * (tile.threads() / tile.depth);
        add(line_at(mine), to(arguments.index(), depth), depth * pitch_ + mine);
      }
    } else {
      const Value line = thread % lines, depth = thread / lines;
      const auto element = line_at(line);
      for (int i = 0; i < count; ++i) {
        const Value mine = depth + i * (tile.threads() / lines);
        add(element, to(arguments.index(), mine), mine * pitch_ + line);
      }
    }
  }

  // Loads from a depth on; 0 beyond the end. `inside`: a depth before the end.
  void fetch(Value from, Value inside, Value end) {
    for (auto& one : elements_) {
      const Value depth = from + one.depth, is_inside = depth < end;
      one.staged.set(select(is_inside, one.element(select(is_inside, depth, inside)), zero_));
    }
  }
  void put() {
    for (auto& one : elements_) writer_.store(shared_, one.place, one.staged.get());
  }
  Value get(Value depth, Value line) { return writer_.load(shared_, depth * pitch_ + line); }

 private:
  struct Element {
    std::function<Value(Value)> element;
    Value depth;  // from where a step begins
    Value place;  // in the shared array
    Variable staged;
  };
  void add(std::function<Value(Value)> element, Value depth, Value place) {
    elements_.push_back({std::move(element), depth, place, writer_.variable(zero_)});
  }

  kernel::Writer& writer_;
  kernel::Shared shared_;
  int pitch_;
  Value zero_;
  std::vector<Element> elements_;
};

}  // namespace

std::int64_t BlockTile::shared_bytes(ir::DType type) const {
  return std::int64_t{depth} * (rows + columns + 2) * static_cast<std::int64_t>(ir::size_of(type));
}

std::optional<BlockGrid> BlockGrid::choose(const DeviceFacts& facts, ir::DType type, std::int64_t rows,
                                           std::int64_t columns, std::int64_t depth, std::int64_t groups) {
  constexpr std::int64_t kLeast = 16, kLeastDepthOfPart = 128;
  if (facts.has_slow_barriers || !ir::is_floating(type) || std::min({rows, columns, depth}) < kLeast) return {};
  std::optional<BlockGrid> grid;
  for (const auto& tile : kTiles) {
    if (tile.shared_bytes(type) > facts.shared_bytes_per_block || tile.threads() > facts.max_threads) continue;
    grid = {rows, columns, depth, groups, 1, depth, tile};
    const bool is_empty = 2 * rows <= tile.rows || 2 * columns <= tile.columns;
    if (!is_empty && grid->blocks() >= facts.multiprocessors) return grid;
  }
  if (!grid || grid->blocks() >= facts.multiprocessors) return grid;
  const auto wanted = std::clamp<std::int64_t>(2 * facts.multiprocessors / grid->blocks(), 1,
                                               std::max<std::int64_t>(depth / kLeastDepthOfPart, 1));
  const auto steps = (depth + grid->tile.depth - 1) / grid->tile.depth;
  grid->depth_of_part = (steps + wanted - 1) / wanted * grid->tile.depth;
  grid->parts = (depth + grid->depth_of_part - 1) / grid->depth_of_part;
  return grid;
}

void each_block(kernel::Writer& writer, Arguments& arguments, const BlockGrid& grid,
                const std::function<void(const BlockPlace& place)>& body) {
  const Value block = arguments.block();
  writer.when(block < arguments.number(grid.blocks()), [&] {
    const Value across = arguments.number(grid.across()), down = arguments.number(grid.down());
    const Value groups = arguments.number(grid.groups), depth = arguments.number(grid.depth);
    const Value lines = block / across, stacks = lines / down;
    BlockPlace place;
    place.first_column = (block - lines * across) * grid.tile.columns;
    place.first_row = (lines - stacks * down) * grid.tile.rows;
    place.part = stacks / groups;
    place.group = stacks - place.part * groups;
    const Value of_part = arguments.number(grid.depth_of_part);
    place.begin = place.part * of_part;
    place.end = least(place.begin + of_part, depth);
    body(place);
  });
}

void multiply_block(kernel::Writer& writer, Arguments& arguments, ir::DType type, const BlockGrid& grid,
                    const BlockPlace& place, const BlockSource& rows, const BlockSource& columns,
                    const std::function<void(Value, Value, Value)>& store) {
  constexpr int kUnrolled = 4;
  const auto& tile = grid.tile;
  const Value all_rows = arguments.number(grid.rows), all_columns = arguments.number(grid.columns);
  Loader first(writer, arguments, type, tile, rows, tile.rows, place.first_row, all_rows - 1);
  Loader second(writer, arguments, type, tile, columns, tile.columns, place.first_column, all_columns - 1);
  const Value thread = writer.thread(), my_row = thread / tile.across(), my_column = thread % tile.across();
  std::vector<Variable> sums;
  for (int i = 0; i < tile.rows_each * tile.columns_each; ++i)
    sums.push_back(writer.variable(writer.constant(type, 0.0)));

  // What the next step needs is on its way from memory while this one computes.
  const auto fetch = [&](Value from) {
    first.fetch(from, place.begin, place.end);
    second.fetch(from, place.begin, place.end);
  };
  fetch(place.begin);
  writer.loop(place.begin, place.end, arguments.constant(tile.depth), [&](Value from) {
    first.put();
    second.put();
    writer.barrier();
    fetch(from + tile.depth);
    writer.loop(writer.index(0), writer.index(tile.depth), writer.index(kUnrolled), [&](Value step) {
      for (int k = 0; k < kUnrolled; ++k) {
        Values of_rows, of_columns;
        for (int i = 0; i < tile.rows_each; ++i) of_rows.push_back(first.get(step + k, my_row + i * tile.down()));
        for (int j = 0; j < tile.columns_each; ++j)
          of_columns.push_back(second.get(step + k, my_column + j * tile.across()));
        auto sum = sums.begin();
        for (const auto a : of_rows) {
          for (const auto b : of_columns) {
            sum->set(fused_multiply_add(a, b, sum->get()));
            ++sum;
          }
        }
      }
    });
    writer.barrier();
  });

  for (int i = 0; i < tile.rows_each; ++i) {
    const Value row = place.first_row + to(arguments.index(), my_row + i * tile.down());
    for (int j = 0; j < tile.columns_each; ++j) {
      const Value column = place.first_column + to(arguments.index(), my_column + j * tile.across());
      writer.when(row < all_rows && column < all_columns,
                  [&] { store(row, column, sums[static_cast<std::size_t>(i * tile.columns_each + j)].get()); });
    }
  }
}

}  // namespace burn::compile::kernels
