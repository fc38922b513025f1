// Executes the instructions of a fused group, for one tile at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "backends/cpu/fused/tile_code.h"
#include "backends/cpu/fused/tile_source.h"

namespace burn::backends::cpu {

// Where a result is written.
struct TileTarget {
  std::byte* data = nullptr;
  bool streamed = false;  // past the caches
};

inline bool is_streamed(const TileValue& result, std::span<const TileTarget> results) {
  return result.extent == Extent::full && results[static_cast<std::size_t>(result.result)].streamed;
}

// The elements to compute, [begin, begin + n) of the domain, and where their values are.
struct Tile {
  std::int64_t begin = 0, n = 0, rows = 0;
  std::vector<Location>& at;        // per value; a repeat may refer to the number that it repeats
  std::byte* totals = nullptr;      // of the group's sums, if there are any
  float* carried = nullptr;         // numbers that instructions carry from tile to tile
  bool starts = true, ends = true;  // whether it is the first or last of consecutive tiles
};

// Refers to its arguments, which must outlive it. `random_offset`: that of the run.
class TileInterpreter {
 public:
  TileInterpreter(const TileCode& code, std::span<const TileTarget> results, std::uint64_t seed,
                  std::uint64_t random_offset)
      : code_(code), results_(results), seed_(seed), random_offset_(random_offset) {}

  void execute(const TileInstruction& in, const Tile& tile) const;

 private:
  const TileValue& value(std::int32_t v) const { return code_.values[static_cast<std::size_t>(v)]; }

  void convert(const TileInstruction& in, std::int64_t count, const Tile& tile) const;
  void sum(const TileSum& sum, const std::byte* x, const Tile& tile) const;
  void pointwise(const TileInstruction& in, std::int64_t count, const Tile& tile) const;
  void reduce(const TileInstruction& in, const Tile& tile) const;
  void row_sum(const TileInstruction& in, const Tile& tile) const;
  void centred_sum(const TileInstruction& in, const Tile& tile) const;
  void repeat(const TileInstruction& in, const Tile& tile) const;
  void pick(const TileInstruction& in, const Tile& tile) const;

  const TileCode& code_;
  std::span<const TileTarget> results_;
  std::uint64_t seed_, random_offset_;
};

}  // namespace burn::backends::cpu
