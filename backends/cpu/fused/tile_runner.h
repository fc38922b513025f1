// One execution of a fused group: finds where its values are for each tile, and runs the tiles.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/fused/tile_interpreter.h"
#include "backends/cpu/fused/tile_source.h"
#include "backends/cpu/runtime/run.h"

namespace burn::backends::cpu {

// Different tiles may be run at the same time.
class TileRunner {
 public:
  // `totals`: total_bytes() of memory, if there are sums.
  TileRunner(const TileCode& code, std::vector<TileSource> sources, std::vector<TileTarget> results,
             CpuBufferPtr totals, const Run& run)
      : code_(code),
        sources_(std::move(sources)),
        results_(std::move(results)),
        totals_(std::move(totals)),
        seed_(run.seed),
        random_offset_(run.random_offset),
        pool_(&run.pool) {}

  const TileCode& code() const { return code_; }
  static std::int64_t total_bytes(const TileCode& code) {
    return code.sums.empty() ? 0 : code.parts * code.total_bytes;
  }
  void run_units(std::int64_t begin, std::int64_t end);
  void finish();  // to be called when all units have run

 private:
  // A value in an array, `step` bytes further from tile to tile.
  struct Track {
    std::size_t value;
    std::byte* data;
    std::int64_t step;
  };
  // The values whose location changes from tile to tile: by a fixed step, or as their source locates them.
  struct Moving {
    std::vector<Track> tracks;
    std::vector<std::size_t> located;
  };

  void run_tiles(std::int64_t begin, std::int64_t end, std::byte* totals);
  std::vector<Location> places(std::byte* scratch);
  Moving follow(std::vector<Location>& at);
  std::byte* target(const TileValue& value, std::int64_t begin, std::int64_t row) const;
  void run_tile(const Tile& here, std::int64_t tile, const Moving& moving, const std::vector<Location>& scratch);
  bool is_streamed(const TileValue& result) const { return cpu::is_streamed(result, results_); }

  const TileCode& code_;
  std::vector<TileSource> sources_;  // of the values that are reads, in their order
  std::vector<TileTarget> results_;
  CpuBufferPtr totals_;
  std::uint64_t seed_, random_offset_;
  Pool* pool_;  // for scratch memory that is larger than usual
};

}  // namespace burn::backends::cpu
