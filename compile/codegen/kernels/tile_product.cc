#include "compile/codegen/kernels/tile_product.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

constexpr int kSize = kernel::kTileSize;
constexpr int kInPack = 8;  // elements of 16 bytes
constexpr int kSubgroup = 32;

// What a block of subgroups computes, `depth` at once, and what one subgroup has of it.
struct SubgroupTile {
  int rows, columns, depth, subgroup_rows, subgroup_columns;

  int down() const { return rows / subgroup_rows; }
  int across() const { return columns / subgroup_columns; }
  int subgroups() const { return down() * across(); }
  // The sums of a thread are so many rows of 16: what matters of them is their number.
  BlockTile block() const {
    BlockTile tile{.rows = rows,
                   .columns = columns,
                   .depth = depth,
                   .rows_each = subgroup_rows * subgroup_columns / 512,
                   .columns_each = 16,
                   .sides = 1,
                   .blocks_at_once = 512 / (subgroups() * kSubgroup)};
    const std::int64_t bytes =
        std::int64_t{2} * (rows + columns) * (depth + kInPack) + std::int64_t{4} * subgroups() * kSize * kSize;
    tile.more_shared_bytes = bytes - tile.shared_bytes(2);
    return tile;
  }
};
// One side of shared memory, and little of the depth at once: with more of it fewer blocks run on a multiprocessor.
constexpr SubgroupTile kTiles[] = {{128, 128, 32, 64, 64}, {64, 128, 64, 32, 32}, {64, 64, 64, 32, 32}};

// That are taken where timing says so alone.
constexpr SubgroupTile kTimedTiles[] = {{128, 256, 32, 64, 64}, {256, 128, 32, 64, 64}, {64, 64, 32, 32, 32}};

const SubgroupTile& subgroup_tile_of(const BlockTile& tile) {
  const auto is_it = [&](const SubgroupTile& one) { return one.block() == tile; };
  const auto* const found = std::ranges::find_if(kTiles, is_it);
  return found != std::end(kTiles) ? *found : *std::ranges::find_if(kTimedTiles, is_it);
}

// How a factor lies in memory: its lines are rows of the first factor, columns of the second one.
struct Factor {
  const View& view;
  std::int64_t lines, line_step, depth_step;

  // 16 bytes along the contiguous dim lie within it, and begin at multiples of 16.
  bool is_whole(std::int64_t depth) const {
    if (depth_step != 1 && line_step != 1) return false;
    return has_depth_contiguous() ? lies_in_packs(view, kInPack, depth, line_step)
                                  : lies_in_packs(view, kInPack, lines, depth_step);
  }
  bool has_depth_contiguous() const { return depth_step == 1; }
};

struct Factors {
  explicit Factors(const ProductOperands& operands)
      : depth(operands.a.shape[operands.a.rank() - 1]),
        first(factor(operands.a, operands.c.shape[operands.c.rank() - 2], false)),
        second(factor(operands.b, operands.c.shape[operands.c.rank() - 1], true)) {}

  std::int64_t depth;
  Factor first, second;

 private:
  static Factor factor(const View& view, std::int64_t lines, bool is_second) {
    const MatrixSteps steps(view);
    return {view, lines, is_second ? steps.column : steps.row, is_second ? steps.row : steps.column};
  }
};

// What the threads of a block load of a factor: 16 bytes each at a time, into registers and from there into a shared
// array, as it lies in memory.
class PackLoader {
 public:
  PackLoader(kernel::Writer& writer, Arguments& arguments, const BlockTile& tile, const Factor& factor, int lines,
             kernel::Memory from, Value begin, Value first)
      : writer_(writer), has_depth_contiguous_(factor.has_depth_contiguous()), from_(from) {
    const int in_line = (has_depth_contiguous_ ? tile.depth : lines) / kInPack;  // packs
    pitch_ = (in_line + 1) * 4;                                                  // words; 16 bytes more: other banks
    shared_ = writer.shared(ir::DType::u32, std::int64_t{pitch_} * (has_depth_contiguous_ ? lines : tile.depth));
    const int count = lines * tile.depth / kInPack / tile.threads();
    const Value thread = writer.thread();
    for (int i = 0; i < count; ++i) {
      const Value pack = thread + i * tile.threads(), line = pack / in_line, piece = pack - line * in_line;
      const Value across = to(arguments.index(), piece) * kInPack, down = to(arguments.index(), line);
      Pack one;
      const Value last = arguments.number(factor.lines - (has_depth_contiguous_ ? 1 : kInPack));
      const Value of_line = least(first + (has_depth_contiguous_ ? down : across), last);
      one.begin = begin + (factor.line_step == 1 ? of_line : of_line * arguments.number(factor.line_step));
      one.depth = has_depth_contiguous_ ? across : down;
      one.place = line * pitch_ + piece * 4;
      for (auto& word : one.staged) word = writer.variable(writer.index(0));
      packs_.push_back(one);
    }
    if (factor.depth_step != 1) depth_step_ = arguments.number(factor.depth_step);
  }

  // Loads from a depth on; 0 beyond the end. `inside`: a depth before the end.
  void fetch(Value from, Value inside, Value end) {
    for (const auto& pack : packs_) {
      const Value depth = from + pack.depth, is_inside = depth < end;
      const Value at = select(is_inside, depth, inside);
      const auto words = writer_.load_words(from_, pack.begin + (depth_step_.id < 0 ? at : at * depth_step_));
      for (std::size_t k = 0; k < words.size(); ++k) pack.staged[k].set(select(is_inside, words[k], 0));
    }
  }
  void put() {
    for (const auto& pack : packs_) {
      std::array<Value, 4> words;
      for (std::size_t k = 0; k < words.size(); ++k) words[k] = pack.staged[k].get();
      writer_.store_pack(shared_, pack.place, words);
    }
  }

  // The tile of the lines from `line` on, and of the depths from `depth` on.
  Value tile(ir::DType type, bool is_second, Value line, int depth) {
    const Value index = has_depth_contiguous_ ? line * pitch_ + depth / 2 : line / 2 + depth * pitch_;
    // Lines in memory are rows of the first factor where its depth is contiguous, and columns of the second one.
    return writer_.tile_load(type, {is_second, has_depth_contiguous_ == is_second, shared_.array}, index,
                             writer_.index(pitch_));
  }

 private:
  struct Pack {
    Value begin, depth, place;
    std::array<Variable, 4> staged;
  };

  kernel::Writer& writer_;
  bool has_depth_contiguous_;
  kernel::Memory from_;
  kernel::Shared shared_;
  int pitch_ = 0;  // words from line to line
  Value depth_step_;
  std::vector<Pack> packs_;
};

}  // namespace

std::vector<BlockGrid> grids_in_tiles(const DeviceFacts& facts, const ProductOperands& operands) {
  const auto type = operands.c.dtype;
  if (type == ir::DType::f16 ? !facts.has_f16_tiles : type != ir::DType::bf16 || !facts.has_bf16_tiles) return {};
  const Factors factors(operands);
  const auto rows = factors.first.lines, columns = factors.second.lines, depth = factors.depth;
  constexpr std::int64_t kLeast = 16;
  const bool is_whole = factors.first.is_whole(depth) && factors.second.is_whole(depth);
  if (std::min({rows, columns, depth}) < kLeast || !is_whole) return {};
  std::vector<BlockTile> tiles;
  for (const auto& tile : kTiles) tiles.push_back(tile.block());
  const auto first = BlockGrid::choose_of(tiles, facts, 2, rows, columns, depth, operands.batch().count);
  if (!first) return {};
  std::vector<BlockTile> timed;
  for (const auto& tile : kTimedTiles) timed.push_back(tile.block());
  timed.insert(timed.end(), tiles.begin(), tiles.end());
  return BlockGrid::candidates_of(*first, timed, facts, 2);
}

void emit_product_in_tiles(Emitter& emit, const ProductOperands& operands, const BlockGrid& grid) {
  const auto type = operands.c.dtype;
  const Factors factors(operands);
  std::optional<View> parts;
  if (grid.parts > 1) parts = emit.scratch_value({ir::DType::f32, {grid.parts, grid.groups, grid.rows, grid.columns}});
  kernel::Writer writer(grid.tile.threads());
  const auto most = operands.most(std::max(grid.threads(), parts ? parts->num_elements() : 0));
  Arguments arguments(writer, index_type(most));
  const auto from = arguments.address(operands.a), by = arguments.address(operands.b);
  const auto into = parts ? arguments.address(*parts) : kernel::Memory{};
  std::optional<ProductResult> result;
  if (!parts) result.emplace(writer, arguments, operands);
  const auto& chosen = subgroup_tile_of(grid.tile);
  const auto scratch = writer.shared(ir::DType::f32, std::int64_t{chosen.subgroups()} * kSize * kSize);
  each_block(writer, arguments, grid, [&](const BlockPlace& place) {
    const auto begins = operands.batch().offsets(arguments, place.group);
    PackLoader of_rows(writer, arguments, grid.tile, factors.first, grid.tile.rows, from, begins[0], place.first_row);
    PackLoader of_columns(writer, arguments, grid.tile, factors.second, grid.tile.columns, by, begins[1],
                          place.first_column);
    const Value thread = writer.thread(), subgroup = thread / kSubgroup, lane = thread % kSubgroup;
    const Value row = subgroup / chosen.across() * chosen.subgroup_rows;
    const Value column = subgroup % chosen.across() * chosen.subgroup_columns;
    const auto down = static_cast<std::size_t>(chosen.subgroup_rows / kSize);
    const auto across = static_cast<std::size_t>(chosen.subgroup_columns / kSize);
    std::vector<Value> sums(down * across);
    for (auto& sum : sums) sum = writer.tile_sums();

    // What the next step needs is on its way from memory while this one computes.
    const auto fetch = [&](Value at) {
      of_rows.fetch(at, place.begin, place.end);
      of_columns.fetch(at, place.begin, place.end);
    };
    const auto multiply = [&] {
      for (int k = 0; k < chosen.depth; k += kSize) {
        std::vector<Value> lefts;
        lefts.reserve(down);
        for (std::size_t i = 0; i < down; ++i)
          lefts.push_back(of_rows.tile(type, false, row + static_cast<int>(i) * kSize, k));
        for (std::size_t j = 0; j < across; ++j) {
          const Value right = of_columns.tile(type, true, column + static_cast<int>(j) * kSize, k);
          for (std::size_t i = 0; i < down; ++i) writer.tile_multiply(sums[i * across + j], lefts[i], right);
        }
      }
    };
    // The loads are behind a barrier and before the loop's end, or compilers move them to where they are needed.
    fetch(place.begin);
    writer.loop(place.begin, place.end, arguments.constant(chosen.depth), [&](Value at) {
      of_rows.put();
      of_columns.put();
      writer.barrier();
      fetch(at + chosen.depth);
      multiply();
      writer.barrier();
    });

    const Value all_rows = arguments.number(grid.rows), all_columns = arguments.number(grid.columns);
    const Value begin = subgroup * (kSize * kSize);
    const Value stack = parts ? place.part * arguments.number(grid.groups) + place.group : place.group;
    const bool in_packs = grid.columns % kInPack == 0 && (parts || ProductResult::takes_packs(operands, kInPack));
    // A thread has eight elements of a row of a tile.
    const Value in_row = lane / 2, in_column = lane % 2 * kInPack;
    for (std::size_t i = 0; i < down; ++i) {
      for (std::size_t j = 0; j < across; ++j) {
        writer.tile_store(scratch, begin, writer.index(kSize), sums[i * across + j]);
        writer.barrier();
        const auto place_in = [&](Value begin_of, Value within) { return begin_of + to(arguments.index(), within); };
        const Value at_row = place_in(place.first_row, row + static_cast<int>(i) * kSize + in_row);
        const Value at_column = place_in(place.first_column, column + static_cast<int>(j) * kSize + in_column);
        std::vector<Value> elements;
        for (int k = 0; k < kInPack; k += 4) {
          for (const auto sum : writer.load_pack(scratch, begin + in_row * kSize + in_column + k))
            elements.push_back(sum);
        }
        writer.barrier();
        const Value in_parts = (stack * all_rows + at_row) * all_columns + at_column;
        writer.when(at_row < all_rows && at_column < all_columns, [&] {
          if (in_packs && !parts) return result->store(begins, at_row, at_column, elements);
          for (std::size_t k = 0; k < elements.size(); k += in_packs ? 4 : 1) {
            const auto more = static_cast<std::int64_t>(k);
            if (in_packs) {
              writer.store(into, in_parts + more, std::span(elements).subspan(k, 4));
              continue;
            }
            writer.when(at_column + more < all_columns, [&] {
              if (parts) return writer.store(into, in_parts + more, elements[k]);
              result->store(begins, at_row, at_column + more, elements[k]);
            });
          }
        });
      }
    }
  });
  arguments.launch(emit, grid.threads());
  if (parts) add_parts(emit, *parts, grid, operands);
}

}  // namespace burn::compile::kernels
