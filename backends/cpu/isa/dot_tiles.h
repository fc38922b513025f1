// Products of bf16 by instructions that multiply pairs and add to floats: AMX's on tiles, AVX-512's on vectors. Both
// read operands packed in the same way.
//
// A panel is 32 rows of the left operand, or 32 columns of the right one, for some steps of the depth. A step is 32 of
// the depth, and two tiles: the one of the first 16 lines and the one of the others. A tile is 16 by 16 pairs of
// numbers that follow each other in the depth, line after line on the left and pair after pair on the right. What is
// missing to whole tiles is 0.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace burn::backends::cpu {

inline constexpr std::int64_t kPanelLines = 32, kStepDepth = 32;
inline constexpr std::int64_t kTilePairs = 16 * 16, kStepPairs = 2 * kTilePairs;

// The lines of an operand: rows of the left one, columns of the right one. Line i has its number d at
// data[i * stride + d], or at data[d * stride + i] if it lies across.
struct DotLines {
  const std::uint16_t* data;
  std::int64_t stride;
  bool is_across;
  std::int64_t lines, depth;
};

// sums [32, 32], row-major = the product of two panels, or that and what they were.
struct DotBlock {
  const std::uint32_t *left, *right;
  std::int64_t steps;
  float* sums;
  bool adds;
};

struct DotTiles {
  std::string_view name;
  void (*begin)();  // on a thread, before it multiplies
  void (*multiply)(const DotBlock&);
  void (*end)();
};

// Those that this machine runs and BURN_ISA allows, the fastest first.
std::span<const DotTiles> dot_tiles();

// Some panels next to each other, from the line and the depth on where they begin.
struct PanelRange {
  std::int64_t line, panels;
  std::int64_t depth, steps;
};

// Panel after panel. Requires dot_tiles() that are not empty.
void pack_left(const DotLines& lines, const PanelRange& range, std::uint32_t* packed);
void pack_right(const DotLines& lines, const PanelRange& range, std::uint32_t* packed);

}  // namespace burn::backends::cpu
