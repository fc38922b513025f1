#include "compile/codegen/kernels/tile_product.h"

#include <algorithm>
#include <iterator>

#include "compile/codegen/kernels/pack_loader.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

constexpr int kSize = kernel::kTileSize;
constexpr int kInPack = Factor::kInPack;
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

// Where a product in tiles goes: the result, or parts of it that are added up later.
struct TileResult {
  const View* parts = nullptr;  // null: there is one part
  kernel::Memory into = {};     // the parts'
  std::optional<ProductResult> whole = {};
};

// A block's product while it is written.
class TileProduct {
 public:
  TileProduct(kernel::Writer& writer, Arguments& arguments, const ProductOperands& operands, const BlockGrid& grid,
              const BlockPlace& place)
      : writer_(writer),
        arguments_(arguments),
        operands_(operands),
        grid_(grid),
        chosen_(subgroup_tile_of(grid.tile)),
        place_(place),
        begins_(operands.batch().offsets(arguments, place.group)) {}

  void multiply(const Factors& factors, kernel::Memory from, kernel::Memory by) {
    PackLoader of_rows(writer_, arguments_, grid_.tile, factors.first, grid_.tile.rows, from, begins_[0],
                       place_.first_row);
    PackLoader of_columns(writer_, arguments_, grid_.tile, factors.second, grid_.tile.columns, by, begins_[1],
                          place_.first_column);
    const Value thread = writer_.thread();
    subgroup_ = thread / kSubgroup;
    lane_ = thread % kSubgroup;
    row_ = subgroup_ / chosen_.across() * chosen_.subgroup_rows;
    column_ = subgroup_ % chosen_.across() * chosen_.subgroup_columns;
    sums_.resize(down() * across());
    for (auto& sum : sums_) sum = writer_.tile_sums();

    // What the next step needs is on its way from memory while this one computes.
    const auto fetch = [&](Value at) {
      of_rows.fetch(at, place_.begin, place_.end);
      of_columns.fetch(at, place_.begin, place_.end);
    };
    // The loads are behind a barrier and before the loop's end, or compilers move them to where they are needed.
    fetch(place_.begin);
    writer_.loop(place_.begin, place_.end, arguments_.constant(chosen_.depth), [&](Value at) {
      of_rows.put();
      of_columns.put();
      writer_.barrier();
      fetch(at + chosen_.depth);
      add_step(of_rows, of_columns);
      writer_.barrier();
    });
  }

  // `scratch`: for a tile of each subgroup.
  void store(TileResult& result, kernel::Shared scratch) {
    const Value all_rows = arguments_.number(grid_.rows), all_columns = arguments_.number(grid_.columns);
    const Value begin = subgroup_ * (kSize * kSize);
    const Value stack = result.parts ? place_.part * arguments_.number(grid_.groups) + place_.group : place_.group;
    // A thread has eight elements of a row of a tile.
    const Value in_row = lane_ / 2, in_column = lane_ % 2 * kInPack;
    for (std::size_t i = 0; i < down(); ++i) {
      for (std::size_t j = 0; j < across(); ++j) {
        writer_.tile_store(scratch, begin, writer_.index(kSize), sums_[i * across() + j]);
        writer_.barrier();
        const auto place_in = [&](Value begin_of, Value within) { return begin_of + to(arguments_.index(), within); };
        const Value at_row = place_in(place_.first_row, row_ + static_cast<int>(i) * kSize + in_row);
        const Value at_column = place_in(place_.first_column, column_ + static_cast<int>(j) * kSize + in_column);
        std::vector<Value> elements;
        for (int k = 0; k < kInPack; k += 4) {
          for (const auto sum : writer_.load_pack(scratch, begin + in_row * kSize + in_column + k))
            elements.push_back(sum);
        }
        writer_.barrier();
        const Value in_parts = (stack * all_rows + at_row) * all_columns + at_column;
        writer_.when(at_row < all_rows && at_column < all_columns,
                     [&] { store_inside(result, at_row, at_column, all_columns, in_parts, elements); });
      }
    }
  }

 private:
  std::size_t down() const { return static_cast<std::size_t>(chosen_.subgroup_rows / kSize); }
  std::size_t across() const { return static_cast<std::size_t>(chosen_.subgroup_columns / kSize); }

  void add_step(PackLoader& of_rows, PackLoader& of_columns) {
    const auto type = operands_.c.dtype;
    for (int k = 0; k < chosen_.depth; k += kSize) {
      std::vector<Value> lefts;
      lefts.reserve(down());
      for (std::size_t i = 0; i < down(); ++i)
        lefts.push_back(of_rows.tile(type, false, row_ + static_cast<int>(i) * kSize, k));
      for (std::size_t j = 0; j < across(); ++j) {
        const Value right = of_columns.tile(type, true, column_ + static_cast<int>(j) * kSize, k);
        for (std::size_t i = 0; i < down(); ++i) writer_.tile_multiply(sums_[i * across() + j], lefts[i], right);
      }
    }
  }

  // Eight elements of a row from `column` on, which lies inside; in the parts they begin at `in_parts`.
  void store_inside(TileResult& result, Value row, Value column, Value all_columns, Value in_parts,
                    const std::vector<Value>& elements) {
    const bool in_packs =
        grid_.columns % kInPack == 0 && (result.parts || ProductResult::takes_packs(operands_, kInPack));
    if (in_packs && result.whole) return result.whole->store(begins_, row, column, elements);
    for (std::size_t k = 0; k < elements.size(); k += in_packs ? 4 : 1) {
      const auto more = static_cast<std::int64_t>(k);
      if (in_packs) {
        writer_.store(result.into, in_parts + more, std::span(elements).subspan(k, 4));
        continue;
      }
      writer_.when(column + more < all_columns, [&] {
        if (result.whole)
          result.whole->store(begins_, row, column + more, elements[k]);
        else
          writer_.store(result.into, in_parts + more, elements[k]);
      });
    }
  }

  kernel::Writer& writer_;
  Arguments& arguments_;
  const ProductOperands& operands_;
  const BlockGrid& grid_;
  const SubgroupTile& chosen_;
  const BlockPlace& place_;
  const std::vector<Value> begins_;
  Value subgroup_, lane_, row_, column_;
  std::vector<Value> sums_;
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
  const Factors factors(operands);
  std::optional<View> parts;
  if (grid.parts > 1) parts = emit.scratch_value({ir::DType::f32, {grid.parts, grid.groups, grid.rows, grid.columns}});
  const auto& facts = emit.target().facts();
  kernel::Writer writer(grid.tile.threads(), facts.has_functions, facts.has_exp2);
  Arguments arguments(writer, operands.index(std::max(grid.threads(), parts ? parts->num_elements() : 0)));
  const auto from = arguments.address(operands.a), by = arguments.address(operands.b);
  TileResult result;
  if (parts) {
    result.parts = &*parts;
    result.into = arguments.address(*parts);
  } else {
    result.whole.emplace(writer, arguments, operands);
  }
  const std::int64_t subgroups = subgroup_tile_of(grid.tile).subgroups();
  const auto scratch = writer.shared(ir::DType::f32, subgroups * kSize * kSize);
  each_block(writer, arguments, grid, [&](const BlockPlace& place) {
    TileProduct product(writer, arguments, operands, grid, place);
    product.multiply(factors, from, by);
    product.store(result, scratch);
  });
  arguments.launch(emit, grid.threads());
  if (parts) add_parts(emit, *parts, grid, operands);
}

}  // namespace burn::compile::kernels
