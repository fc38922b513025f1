// One execution of a fused group: where its values lie, and the tiles.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "backends/cpu/array.h"
#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/loops.h"
#include "backends/cpu/run.h"

namespace burn::backends::cpu {

// Where a value is while a tile is computed; strides as in RunLoop.
struct Location {
  std::byte* data = nullptr;
  std::int64_t stride = 1;
  std::optional<std::int64_t> row_step;  // bytes from row to row, where rows do not follow one another
  std::int64_t tile_step = 0;            // bytes to where the next tile reads, if that is known
};

// An operand of the group as the tiles find it.
class TileSource {
 public:
  // Elements of the domain. The array stays with the caller, so that a result may be written over it.
  TileSource(Array& x, ir::DType held);
  // One number per row, or only one, as held.
  explicit TileSource(Array numbers) : numbers_(std::move(numbers)), nest_({}, {&numbers_.strides()}) {}

  // The elements [begin, begin + n): in place, or copied to `scratch`.
  Location locate(std::int64_t begin, std::int64_t n, bool wants_all, std::byte* scratch);
  // Where the first tile is found, in place, and how many bytes further each of `rows` rows of n elements is than the
  // one before; nothing where that differs from tile to tile.
  struct Even {
    Location first;
    std::int64_t step = 0;  // bytes
  };
  std::optional<Even> even(std::int64_t rows, std::int64_t n, bool wants_all) const;
  // From the row's number on; or the only one.
  Location row(std::int64_t row) { return {numbers_.data() + row * size_of(numbers_.dtype()), 1}; }
  Location only() { return {numbers_.data(), 0}; }

 private:
  static std::int64_t size_of(ir::DType dtype) { return static_cast<std::int64_t>(ir::size_of(dtype)); }

  Array numbers_;
  std::byte* data_ = nullptr;
  std::int64_t size_ = 0, held_size_ = 0;  // of an element, bytes
  CastLoop copy_ = nullptr;                // from how it is stored to how it is held
  bool converts_ = false;
  LoopNest<1> nest_;
};

// Where a result goes.
struct TileTarget {
  std::byte* data = nullptr;
  bool streamed = false;  // past the caches
};

// Different tiles may be run at the same time.
class TileRunner {
 public:
  // `totals`: total_bytes() of them, where there are sums.
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
  void finish();  // when all units have run

 private:
  // A value that lies in an array, so many bytes further from tile to tile.
  struct Track {
    std::size_t value;
    std::byte* data;
    std::int64_t step;
  };
  // What moves from tile to tile: evenly, or as its source knows.
  struct Moving {
    std::vector<Track> tracks;
    std::vector<std::size_t> located;
  };

  void run_tiles(std::int64_t begin, std::int64_t end, std::byte* totals);
  std::vector<Location> places(std::byte* scratch);
  Moving follow(std::vector<Location>& at);
  bool is_streamed(const TileValue& result) const {
    return result.extent == Extent::full && results_[static_cast<std::size_t>(result.result)].streamed;
  }
  std::byte* target(const TileValue& value, std::int64_t begin, std::int64_t row) const;
  void run_tile(std::int64_t tile, const Moving& moving, std::vector<Location>& at,
                const std::vector<Location>& scratch, std::byte* totals);
  void execute(const TileInstruction& in, std::int64_t begin, std::int64_t n, std::int64_t rows,
               std::vector<Location>& at, std::byte* totals) const;
  void sum(const TileSum& sum, const std::byte* x, std::int64_t begin, std::int64_t n, std::byte* totals) const;
  void pointwise(const TileInstruction& in, std::int64_t count, std::int64_t rows,
                 const std::vector<Location>& at) const;
  void reduce(const TileInstruction& in, std::int64_t rows, const std::vector<Location>& at) const;
  void row_sum(const TileInstruction& in, std::int64_t rows, const std::vector<Location>& at) const;
  void repeat(const TileInstruction& in, std::int64_t rows, std::vector<Location>& at) const;
  void pick(const TileInstruction& in, std::int64_t rows, const std::vector<Location>& at) const;

  const TileCode& code_;
  std::vector<TileSource> sources_;  // by value; of the values that are reads
  std::vector<TileTarget> results_;
  CpuBufferPtr totals_;
  std::uint64_t seed_, random_offset_;
  Pool* pool_;  // of scratch that is larger than usual
};

}  // namespace burn::backends::cpu
