// Operands of products as panels, which blocks of sums are computed from (dot_tiles.h).
//
// A panel is 32 rows of the left operand, or 32 columns of the right one, for some steps of the depth. A step is 64
// bytes of the depth, and two tiles: the one of the first 16 lines and the one of the others. A tile is 16 by 16 units
// of four bytes, which are two bf16 that follow each other in the depth or one f32: line after line on the left and
// unit after unit on the right. What is missing to whole tiles is 0. The right operand is packed like this; the left
// one is, too, or lies in rows where it is.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

inline constexpr std::int64_t kPanelLines = 32;
inline constexpr std::int64_t kTileUnits = std::int64_t{16} * 16, kStepUnits = 2 * kTileUnits;
// Numbers of a step. T, here and below: std::uint16_t for bf16, or float.
template <typename T>
inline constexpr std::int64_t kStepDepth = 64 / sizeof(T);
// Numbers of a unit.
template <typename T>
inline constexpr std::int64_t kUnit = kStepDepth<T> / 16;

// The lines of an operand: rows of the left one, columns of the right one. Line i has its number d at
// data[i * stride + d], or at data[d * stride + i] if it lies across.
template <typename T>
struct DotLines {
  const T* data;
  std::int64_t stride;
  bool is_across;
  std::int64_t lines, depth;
};

// Some panels next to each other, from the line and the depth on where they begin.
struct PanelRange {
  std::int64_t line, panels;
  std::int64_t depth, steps;
};

// Panel after panel. Requires dot_tiles() that are not empty.
template <typename T>
void pack_left(const DotLines<T>& lines, const PanelRange& range, std::uint32_t* packed);
template <typename T>
void pack_right(const DotLines<T>& lines, const PanelRange& range, std::uint32_t* packed);

}  // namespace burn::backends::cpu
