// Packs operands of products into panels, from which blocks of sums are computed (dot_tiles.h).
//
// A panel is 32 rows of the left operand, or 32 columns of the right one, for some steps of the depth. A step is 64
// bytes of the depth, in two tiles: one of the first 16 lines and one of the others. A tile is 16 by 16 units of four
// bytes; a unit is two bf16 that are adjacent in the depth, or one f32. Tiles are stored line after line on the left
// and unit after unit on the right, and are filled up with 0. The right operand is always packed like this; the left
// one may also be read in place, if it is stored in rows.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

inline constexpr std::int64_t kPanelLines = 32;
inline constexpr std::int64_t kTileUnits = std::int64_t{16} * 16, kStepUnits = 2 * kTileUnits;
// Numbers per step. T, here and below: std::uint16_t for bf16, or float.
template <typename T>
inline constexpr std::int64_t kStepDepth = 64 / sizeof(T);
// Numbers per unit.
template <typename T>
inline constexpr std::int64_t kUnit = kStepDepth<T> / 16;

// The lines of an operand: rows of the left one, columns of the right one. Number d of line i is at data[i * stride +
// d], or, if `is_across`, at data[d * stride + i].
template <typename T>
struct DotLines {
  const T* data;
  std::int64_t stride;
  bool is_across;
  std::int64_t lines, depth;
};

// Some adjacent panels, and the line and the depth where they begin.
struct PanelRange {
  std::int64_t line, panels;
  std::int64_t depth, steps;
};

// Packs panel after panel. Requires: dot_tiles() is not empty.
template <typename T>
void pack_left(const DotLines<T>& lines, const PanelRange& range, std::uint32_t* packed);
template <typename T>
void pack_right(const DotLines<T>& lines, const PanelRange& range, std::uint32_t* packed);

}  // namespace burn::backends::cpu
