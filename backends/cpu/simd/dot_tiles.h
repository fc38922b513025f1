// Products by blocks of sums that stay in registers: of bf16 by instructions that multiply pairs and add to floats,
// AMX's on tiles and AVX-512's on vectors, and of f32 by AVX-512.
//
// A panel is 32 rows of the left operand, or 32 columns of the right one, for some steps of the depth. A step is 64
// bytes of the depth, and two tiles: the one of the first 16 lines and the one of the others. A tile is 16 by 16 units
// of four bytes, which are two bf16 that follow each other in the depth or one f32: line after line on the left and
// unit after unit on the right. What is missing to whole tiles is 0. The right operand is packed like this; the left
// one is, too, or lies in rows where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace burn::backends::cpu {

inline constexpr std::int64_t kPanelLines = 32;
inline constexpr std::int64_t kTileUnits = std::int64_t{16} * 16, kStepUnits = 2 * kTileUnits;
// Numbers of a step. T, here and below: std::uint16_t for bf16, or float.
template <typename T>
inline constexpr std::int64_t kStepDepth = 64 / sizeof(T);
// A panel's first so many lines, or twice as many, ..., are read where they are on the left.
template <typename T>
inline constexpr std::int64_t kLeftLines = sizeof(T) == 2 ? kPanelLines : 8;

// The lines of an operand: rows of the left one, columns of the right one. Line i has its number d at
// data[i * stride + d], or at data[d * stride + i] if it lies across.
template <typename T>
struct DotLines {
  const T* data;
  std::int64_t stride;
  bool is_across;
  std::int64_t lines, depth;
};

// A panel of the left operand: where its first line is, and how many bytes it is from a line to the next, from the
// first 16 lines to the others, and from a step to the next.
struct LeftPanel {
  const std::byte* data;
  std::int64_t line, half, step;

  static LeftPanel packed(const std::uint32_t* at) {
    return {reinterpret_cast<const std::byte*>(at), 64, 4 * kTileUnits, 4 * kStepUnits};
  }
  template <typename T>
  static LeftPanel in_place(const T* at, std::int64_t stride) {
    const auto line = stride * static_cast<std::int64_t>(sizeof(T));
    return {reinterpret_cast<const std::byte*>(at), line, 16 * line, 64};
  }
};

// sums [32, 32], row-major = the product of two panels, or that and what they were; of their first `rows` rows, and
// maybe more. A panel of bf16 that lies where it is has a depth of whole steps.
struct DotBlock {
  LeftPanel left;
  const std::uint32_t* right;
  std::int64_t rows, depth;
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
template <typename T>
std::span<const DotTiles> dot_tiles();

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
