// Sums of products over a tile that a block computes together: its threads load each element once into shared arrays.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compile/codegen/kernel/device_facts.h"
#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/tile.h"

namespace burn::compile::kernels {

// Rows and columns of a result that a block computes, how much of the depth it loads at once, and how much of it a
// thread has: neighbouring threads have neighbouring elements, or neighbouring fours of them.
struct BlockTile {
  int rows = 64, columns = 64, depth = 16;
  int rows_each = 4, columns_each = 4;
  std::int64_t sides = 2;              // of what is loaded: the next step's beside this one's
  std::int64_t more_shared_bytes = 0;  // beside the two factors
  int blocks_at_once = 0;              // of a multiprocessor; 0: the depth is split only where blocks are too few
  // Of what is loaded of the depth at once: so many threads have the same sums, of a slice each, and add them up at the
  // end. 1, or as many as rows_each with a column each.
  int slices = 1;

  bool operator==(const BlockTile&) const = default;
  int down() const { return rows / rows_each; }
  int across() const { return columns / columns_each; }
  int threads() const { return down() * across() * slices; }
  std::int64_t shared_bytes(std::int64_t bytes_of_element) const;
};

// A result in tiles of blocks: for each group, and for each part of the depth, rows x columns.
struct BlockGrid {
  std::int64_t rows = 1, columns = 1, depth = 1, groups = 1, parts = 1, depth_of_part = 1;
  BlockTile tile = {};

  std::int64_t down() const { return (rows + tile.rows - 1) / tile.rows; }
  std::int64_t across() const { return (columns + tile.columns - 1) / tile.columns; }
  std::int64_t blocks() const { return down() * across() * groups * parts; }
  std::int64_t threads() const { return blocks() * tile.threads(); }

  // The largest tile that gives each multiprocessor a block, with a long depth split; else the smallest, with the depth
  // split as far as is worth it. None where barriers are slow, but for what a driver's loops would cut short. Of these
  // tiles, the largest first; none: of those for products.
  static std::optional<BlockGrid> choose(const DeviceFacts& facts, ir::DType type, std::int64_t rows,
                                         std::int64_t columns, std::int64_t depth, std::int64_t groups,
                                         std::span<const BlockTile> tiles = {});
  // Of these tiles, the largest first. None where none fits the device.
  static std::optional<BlockGrid> choose_of(std::span<const BlockTile> tiles, const DeviceFacts& facts,
                                            std::int64_t bytes_of_element, std::int64_t rows, std::int64_t columns,
                                            std::int64_t depth, std::int64_t groups);
  // That of choose() for products, first, and those of other tiles that may be faster on the device; empty: as
  // choose().
  static std::vector<BlockGrid> candidates(const DeviceFacts& facts, ir::DType type, std::int64_t rows,
                                           std::int64_t columns, std::int64_t depth, std::int64_t groups);
  // The same of these tiles, each by itself, beside `first`.
  static std::vector<BlockGrid> candidates_of(const BlockGrid& first, std::span<const BlockTile> tiles,
                                              const DeviceFacts& facts, std::int64_t bytes_of_element);
  // Names the tile: "128x128x16 by 8x8".
  std::string name() const;
};

// What a block computes, the same for all its threads.
struct BlockPlace {
  kernel::Value part, group, first_row, first_column;
  kernel::Value begin, end;  // of the depth
};

// body(place), for each block.
void each_block(kernel::Writer& writer, Arguments& arguments, const BlockGrid& grid,
                const std::function<void(const BlockPlace& place)>& body);

// The rows of the first factor, or the columns of the second one.
struct BlockSource {
  // Gives the element of a line at a depth. Called once for each line that a thread loads of.
  std::function<std::function<kernel::Value(kernel::Value depth)>(kernel::Value line)> line;
  bool is_depth_contiguous = false;  // neighbouring depths lie side by side in memory, else neighbouring lines
  // Where set, gives kPack elements that lie side by side, along the depth or else of lines, from such a multiple on.
  // Requires: the depth, or the number of lines, is one.
  std::function<std::function<std::vector<kernel::Value>(kernel::Value depth)>(kernel::Value line)> packs = {};
  static constexpr int kPack = 4;
};

// store(row, column, sum) for each element of the block's tile inside the result; sums of `type`, in the order of the
// depth. `store_pack`, where set, does it for BlockSource::kPack columns from such a multiple on, where the threads
// have them so. Requires: the result's columns are such a multiple.
void multiply_block(kernel::Writer& writer, Arguments& arguments, ir::DType type, const BlockGrid& grid,
                    const BlockPlace& place, const BlockSource& rows, const BlockSource& columns,
                    const std::function<void(kernel::Value, kernel::Value, kernel::Value)>& store,
                    const std::function<void(kernel::Value, kernel::Value, const Values&)>& store_pack = {});

}  // namespace burn::compile::kernels
