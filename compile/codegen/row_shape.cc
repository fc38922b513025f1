#include "compile/codegen/row_shape.h"

#include <algorithm>
#include <bit>

namespace burn::compile {

RowShape choose_row_shape(std::int64_t row_size, int width, const RowNeeds& needs) {
  constexpr std::int64_t kMostVectors = 8, kMostHeld = 64, kMostLanes = 1024;
  constexpr std::int64_t kLongest = 2048;  // vectors of a row that lies in registers
  constexpr int kSharing = 512;
  RowShape shape{.width = width};
  const auto vectors = (row_size + width - 1) / width;
  const auto each_of = [&](std::int64_t lanes) { return (vectors + lanes - 1) / lanes; };
  const auto fits = [&](std::int64_t lanes, int held) {
    return each_of(lanes) <= kMostVectors && each_of(lanes) * width * std::max(held, 1) <= kMostHeld;
  };
  const auto lanes_for = [&](std::int64_t of_thread) {
    const auto wanted = std::bit_ceil(static_cast<std::uint64_t>((vectors + of_thread - 1) / of_thread));
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 32, kMostLanes);
  };
  const int kept = needs.held + needs.columns;
  // Registers of one block would be full of such a row. Of two blocks, one computes while the other one reads.
  if (vectors > kLongest && needs.columns == 0 && needs.held > 0 &&
      vectors * width * needs.held_bytes <= needs.most_shared)
    return {.width = width, .lanes = kSharing, .vectors = 0, .in_shared = true};
  // The more vectors a thread has, the more of the memory's bytes are under way in a multiprocessor; other operands and
  // sums of columns want registers, too. In a warp nobody waits for other warps.
  const std::int64_t most_lanes = needs.columns > 0 ? kMostLanes : lanes_for(kMostVectors / 2);
  const bool only_columns = needs.columns > 0 && !needs.waits;  // then nothing is lost by many threads
  std::int64_t lanes =
      only_columns ? lanes_for(1) : lanes_for(needs.columns + needs.others > 0 ? kMostVectors / 2 : kMostVectors);
  if (fits(32, kept) && !only_columns) lanes = 32;
  while (lanes < most_lanes && !fits(lanes, kept)) lanes *= 2;
  shape.lanes = static_cast<int>(lanes);
  if (fits(lanes, kept) || needs.columns > 0) {
    shape.vectors = static_cast<int>(each_of(lanes));
    // As many whole warps as have something to do: 768 elements are two vectors of four for each of 96 threads.
    const auto busy = (vectors + shape.vectors - 1) / shape.vectors;
    if (lanes > 32) shape.lanes = static_cast<int>((busy + 31) / 32 * 32);
  }
  return shape;
}

int threads_under_way(std::size_t bytes_kept, const RowNeeds& needs) {
  // What is under way between loads and stores takes as much again; with 24 for it, layer norm spilled. Sums of columns
  // count as kept; where threads wait for each other besides, more of them are worth more.
  constexpr std::size_t kRegisters = 65536, kMost = 1536;
  const std::size_t others = needs.columns > 0 && needs.waits ? 28 : needs.columns + needs.others > 0 ? 44 : 32;
  return static_cast<int>(std::min(kRegisters / (others + bytes_kept / 4), kMost));
}

}  // namespace burn::compile
