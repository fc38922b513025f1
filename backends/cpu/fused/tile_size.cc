#include <algorithm>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/isa.h"

namespace burn::backends::cpu {
namespace {

// Bytes of scratch memory and results. A good part of the first-level cache stays free for what the processor
// prefetches while a tile is computed: with larger tiles, memory accesses and arithmetic would alternate. With wider
// vectors the cost of calls dominates.
constexpr std::int64_t kTileBytes = std::int64_t{6} << 10, kWideTileBytes = std::int64_t{16} << 10;
// Tiles of long rows have several, so that what is computed once per row (a mean, a logarithm) is computed for all of
// them together, and no row waits for its number.
constexpr std::int64_t kRowTileBytes = std::int64_t{48} << 10, kMaxLongRows = 32;
// Sums over more columns than this use several rows at a time, which are added in their own type before they are added
// to totals, which are wider.
constexpr std::int64_t kManyColumns = 128, kMaxSummedRows = 64;
constexpr std::int64_t kSmallestTile = 256, kLargestTile = 4096;  // elements

std::int64_t most_columns(const TileCode& code) {
  std::int64_t most = 0;
  for (const auto& sum : code.sums) most = std::max(most, sum.numbers);
  return most;
}

// Rows of a tile, at most `most`, such that all threads get about as many: the thread with the most determines the
// time, and each tile costs as much as one more row. Not less than half of the maximum, nor so many that a thread has
// less than four tiles.
std::int64_t even_rows(const TileCode& code, std::int64_t most) {
  const std::int64_t threads = thread_count(), rows = code.elements / code.row_size;
  most = std::clamp<std::int64_t>(rows / (4 * threads), 1, most);
  const auto time = [&](std::int64_t at_once) {
    const auto tiles = (rows + at_once - 1) / at_once;
    return (tiles + threads - 1) / threads * (at_once + 1);
  };
  auto best = most;
  for (auto r = most - 1; r >= std::max<std::int64_t>(most / 2, 1); --r) {
    if (time(r) < time(best)) best = r;
  }
  return best;
}

std::int64_t tile_of(const TileCode& code) {
  auto bytes = code.full_bytes;  // per element
  std::int64_t read_bytes = 0, most_read = 0;
  for (const auto& v : code.values) {
    const auto size = static_cast<std::int64_t>(ir::size_of(v.stored));
    if (v.result >= 0 && v.extent == Extent::full) bytes += size;
    if (v.scratch >= 0 && v.read >= 0) read_bytes += static_cast<std::int64_t>(ir::size_of(v.held));
    if (v.read >= 0 && v.extent == Extent::full) most_read = std::max(most_read, size);
  }
  if (code.has_long_rows()) {
    // Reads are in place, and all but one of them are often the same for all rows.
    bytes = std::max<std::int64_t>(bytes - read_bytes, 0) + most_read;
    const auto most = kRowTileBytes / std::max<std::int64_t>(bytes * code.row_size, 1);
    return even_rows(code, std::clamp<std::int64_t>(most, 1, kMaxLongRows)) * code.row_size;
  }
  if (const auto columns = most_columns(code); columns > kManyColumns && !code.has_rows()) {
    const auto rows = kRowTileBytes / std::max<std::int64_t>(bytes * columns, 1);
    return std::clamp<std::int64_t>(rows, 1, kMaxSummedRows) * columns;
  }
  // Tiles have the same size on every machine if there are sums over them.
  const auto room = runs_v4() && code.sums.empty() ? kWideTileBytes : kTileBytes;
  const auto tile = std::clamp(room / std::max<std::int64_t>(bytes, 1), kSmallestTile, kLargestTile) / 64 * 64;
  return code.has_rows() ? std::max<std::int64_t>(1, tile / code.row_size) * code.row_size : tile;
}

// Enough parts to keep threads busy, few enough to merge at the end at almost no cost.
std::int64_t parts_of(const TileCode& code) {
  constexpr std::int64_t kMaxParts = 64;
  const auto worth = code.elements * code.cost / (2 * kGrain);
  return std::min(std::clamp<std::int64_t>(worth, 1, kMaxParts), code.tiles());
}

}  // namespace

void choose_tile(TileCode& code) {
  code.tile = tile_of(code);
  code.parts = parts_of(code);
}

}  // namespace burn::backends::cpu
