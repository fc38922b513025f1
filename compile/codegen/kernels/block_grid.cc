// Which tile a block computes of a result, and into how many parts the depth is split.
#include <algorithm>

#include <fmt/format.h>

#include "compile/codegen/kernels/block_tile.h"

namespace burn::compile::kernels {
namespace {

constexpr std::int64_t kPadding = 8;  // elements of a line of a shared array, at most
// Those of one size with less of the depth are for devices with less shared memory.
constexpr BlockTile kSquare{64, 64, 32, 4, 4};
// In place of kSquare, in 32 bits: its threads read shared memory half as often for the same work. It has a quarter of
// the threads, which is enough where there are some two blocks for each multiprocessor (docs/adr/069).
constexpr BlockTile kSquareOfFewThreads{64, 64, 16, 8, 8};
// The largest first.
constexpr BlockTile kTiles[] = {{128, 128, 16, 8, 8}, {64, 128, 16, 8, 8}, kSquare,
                                {64, 64, 16, 4, 4},   {32, 32, 64, 4, 2},  {32, 32, 16, 4, 2}};
// For small results: its blocks are as many as parts of the depth would be otherwise, whose sums are a kernel of their
// own.
constexpr BlockTile kSliced{.rows = 16,
                            .columns = 16,
                            .depth = 64,
                            .rows_each = 4,
                            .columns_each = 1,
                            .more_shared_bytes = std::int64_t{4} * 16 * 16 * 4,
                            .slices = 4};

// That are timed beside the chosen tile, in 32 bits: the largest first.
constexpr BlockTile kTimedTiles[] = {{256, 128, 8, 16, 8},
                                     {128, 128, 16, 8, 8},
                                     {64, 128, 16, 8, 8},
                                     kSquareOfFewThreads,
                                     kSquare,
                                     {32, 32, 64, 4, 2},
                                     kSliced};

// Into how many parts a long depth is split so that the last wave of blocks is nearly full, too: each part costs sums
// in memory, counted as 3 % of the time.
std::int64_t parts_that_fill(std::int64_t blocks, std::int64_t at_once, std::int64_t depth) {
  constexpr std::int64_t kMaxParts = 8, kMinDepth = 2048;
  std::int64_t best = 1;
  double best_share = 0;
  for (std::int64_t parts = 1; parts <= kMaxParts && (parts == 1 || depth >= parts * kMinDepth); ++parts) {
    const auto all = blocks * parts, waves = (all + at_once - 1) / at_once;
    const double share =
        static_cast<double>(all) / static_cast<double>(waves * at_once) - 0.03 * static_cast<double>(parts - 1);
    if (share > best_share) best = parts, best_share = share;
  }
  return best;
}

}  // namespace

std::int64_t BlockTile::shared_bytes(std::int64_t bytes_of_element) const {
  return sides * depth * (rows + columns + 2 * kPadding) * bytes_of_element + more_shared_bytes;
}

std::optional<BlockGrid> BlockGrid::choose(const DeviceFacts& facts, ir::DType type, std::int64_t rows,
                                           std::int64_t columns, std::int64_t depth, std::int64_t groups,
                                           std::span<const BlockTile> tiles) {
  constexpr std::int64_t kMaxRounds = 60000;  // of a thread's own loop over the depth
  if (ir::is_bool(type) || std::min({rows, columns, depth, groups}) == 0) return {};
  if (facts.has_slow_barriers && !(facts.has_limited_loops && depth > kMaxRounds)) return {};
  constexpr std::int64_t kMaxSliced = 1024;
  const auto bytes = static_cast<std::int64_t>(ir::size_of(type));
  auto grid = choose_of(tiles.empty() ? kTiles : tiles, facts, bytes, rows, columns, depth, groups);
  const bool has_many = grid && grid->parts == 1 && 2 * grid->blocks() >= std::int64_t{3} * facts.multiprocessors;
  if (has_many && bytes == 4 && grid->tile == kSquare && kSquareOfFewThreads.threads() <= facts.max_threads)
    grid = choose_of({&kSquareOfFewThreads, 1}, facts, bytes, rows, columns, depth, groups);
  if (!grid || !tiles.empty() || grid->parts == 1 || depth > kMaxSliced || bytes > 4) return grid;
  const BlockGrid sliced{rows, columns, depth, groups, 1, divide_up(depth, kSliced.depth) * kSliced.depth, kSliced};
  const bool fits =
      kSliced.shared_bytes(bytes) <= facts.shared_bytes_per_block && kSliced.threads() <= facts.max_threads;
  return fits && sliced.blocks() <= std::int64_t{2} * facts.multiprocessors ? sliced : grid;
}

std::optional<BlockGrid> BlockGrid::choose_of(std::span<const BlockTile> tiles, const DeviceFacts& facts,
                                              std::int64_t bytes_of_element, std::int64_t rows, std::int64_t columns,
                                              std::int64_t depth, std::int64_t groups) {
  constexpr std::int64_t kMinDepthOfPart = 64, kLongDepthOfPart = 1024, kMaxLimited = 131072;
  const auto wanted = std::int64_t{2} * facts.multiprocessors;
  std::optional<BlockGrid> grid;
  std::int64_t parts = 1;
  for (const auto& tile : tiles) {
    if (tile.shared_bytes(bytes_of_element) > facts.shared_bytes_per_block || tile.threads() > facts.max_threads)
      continue;
    if (grid && grid->tile.rows == tile.rows && grid->tile.columns == tile.columns) continue;
    grid = {rows, columns, depth, groups, 1, depth, tile};
    const auto blocks = grid->blocks();
    const auto parts_of = [&](std::int64_t least) {
      return blocks >= facts.multiprocessors
                 ? 1
                 : std::clamp<std::int64_t>(wanted / blocks, 1, std::max<std::int64_t>(depth / least, 1));
    };
    const bool is_empty = 2 * rows <= tile.rows || 2 * columns <= tile.columns;
    parts = parts_of(kLongDepthOfPart);  // so long that the parts' sums are few beside what is computed
    if (!is_empty && blocks * parts >= facts.multiprocessors) break;
    parts = parts_of(kMinDepthOfPart);
  }
  if (!grid) return grid;
  if (parts == 1 && grid->tile.blocks_at_once > 0)
    parts = parts_that_fill(grid->blocks(), std::int64_t{facts.multiprocessors} * grid->tile.blocks_at_once, depth);
  if (facts.has_limited_loops) parts = std::max(parts, (depth + kMaxLimited - 1) / kMaxLimited);
  const auto steps = (depth + grid->tile.depth - 1) / grid->tile.depth;
  grid->depth_of_part = (steps + parts - 1) / parts * grid->tile.depth;
  grid->parts = (depth + grid->depth_of_part - 1) / grid->depth_of_part;
  return grid;
}

std::vector<BlockGrid> BlockGrid::candidates_of(const BlockGrid& first, std::span<const BlockTile> tiles,
                                                const DeviceFacts& facts, std::int64_t bytes_of_element) {
  constexpr std::size_t kMaxCandidates = 5;
  std::vector<BlockGrid> grids{first};
  const auto computed = [](const BlockGrid& grid) {
    return grid.down() * grid.tile.rows * grid.across() * grid.tile.columns;
  };
  const auto area = [](const BlockTile& tile) { return std::int64_t{tile.rows} * tile.columns; };
  for (const auto& tile : tiles) {
    const auto grid =
        choose_of({&tile, 1}, facts, bytes_of_element, first.rows, first.columns, first.depth, first.groups);
    if (!grid || grids.size() == kMaxCandidates) continue;
    // Half as much again beyond the result's ends, or a device half empty: never the fastest.
    const bool is_wasteful = 2 * computed(*grid) > 3 * computed(first) || 16 * area(tile) <= area(first.tile);
    const bool is_idle =
        grid->blocks() < first.blocks() && 4 * grid->blocks() < std::int64_t{3} * facts.multiprocessors;
    if (!is_wasteful && !is_idle && tile != first.tile) grids.push_back(*grid);
  }
  return grids;
}

std::vector<BlockGrid> BlockGrid::candidates(const DeviceFacts& facts, ir::DType type, std::int64_t rows,
                                             std::int64_t columns, std::int64_t depth, std::int64_t groups) {
  const auto first = choose(facts, type, rows, columns, depth, groups);
  if (!first) return {};
  const auto bytes = static_cast<std::int64_t>(ir::size_of(type));
  return bytes == 4 ? candidates_of(*first, kTimedTiles, facts, bytes) : std::vector{*first};
}

std::string BlockGrid::name() const {
  return fmt::format("{}x{}x{} by {}x{}{}", tile.rows, tile.columns, tile.depth, tile.rows_each, tile.columns_each,
                     tile.slices > 1 ? fmt::format(" in {} slices", tile.slices) : "");
}

}  // namespace burn::compile::kernels
