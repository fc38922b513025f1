// Products by blocks of sums that stay in registers: of bf16 with instructions that multiply pairs and add to floats
// (AMX's on tiles, AVX-512's on vectors), and of f32 with AVX-512.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "backends/cpu/simd/dot_panels.h"

namespace burn::backends::cpu {

// The left operand is read in place in multiples of this many lines of a panel.
template <typename T>
inline constexpr std::int64_t kLeftLines = sizeof(T) == 2 ? kPanelLines : 8;

// A panel of the left operand: where its first line is, and the bytes from a line to the next, from the first 16 lines
// to the others, and from a step to the next.
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

// sums [32, 32], row-major = the product of two panels, added to the old sums if `adds`; for the first `rows` rows, and
// maybe more. A bf16 panel that is read in place has a depth of whole steps.
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

// The variants that this machine runs and BURN_ISA allows, the fastest first.
template <typename T>
std::span<const DotTiles> dot_tiles();

}  // namespace burn::backends::cpu
