#include <algorithm>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/simd/isa.h"

namespace burn::backends::cpu {
namespace {

// Of scratch and results. A good part of the first-level cache stays free, for what the processor fetches ahead while
// a tile is computed: larger tiles make memory and arithmetic take turns. With wider vectors the calls are what counts.
constexpr std::int64_t kTileBytes = std::int64_t{6} << 10, kWideTileBytes = std::int64_t{16} << 10;
// Long rows: several, so that what is computed once for each of them (a mean, a logarithm) is computed side by side,
// and no row waits for its number.
constexpr std::int64_t kRowTileBytes = std::int64_t{48} << 10, kMaxLongRows = 32;
// Sums over that many columns want several rows at a time, which are added as they are before they are added to totals,
// which are wider.
constexpr std::int64_t kManyColumns = 128, kMaxSummedRows = 64;
constexpr std::int64_t kSmallestTile = 256, kLargestTile = 4096;  // elements

std::int64_t most_columns(const TileCode& code) {
  std::int64_t most = 0;
  for (const auto& sum : code.sums) most = std::max(most, sum.numbers);
  return most;
}

// Rows of a tile, at most so many, of which all threads get about as many: what counts is the thread with most, a
// tile being worth a row by itself. Not less than half of the most, nor so many that a thread has less than four
// tiles.
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
    // Reads are where they are, and all but one of them often the same for all rows.
    bytes = std::max<std::int64_t>(bytes - read_bytes, 0) + most_read;
    const auto most = kRowTileBytes / std::max<std::int64_t>(bytes * code.row_size, 1);
    return even_rows(code, std::clamp<std::int64_t>(most, 1, kMaxLongRows)) * code.row_size;
  }
  if (const auto columns = most_columns(code); columns > kManyColumns && !code.has_rows()) {
    const auto rows = kRowTileBytes / std::max<std::int64_t>(bytes * columns, 1);
    return std::clamp<std::int64_t>(rows, 1, kMaxSummedRows) * columns;
  }
  // Sums over tiles are the same on every machine.
  const auto room = runs_v4() && code.sums.empty() ? kWideTileBytes : kTileBytes;
  const auto tile = std::clamp(room / std::max<std::int64_t>(bytes, 1), kSmallestTile, kLargestTile) / 64 * 64;
  return code.has_rows() ? std::max<std::int64_t>(1, tile / code.row_size) * code.row_size : tile;
}

// As many as keep threads busy, few enough to merge at the end for next to nothing.
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
