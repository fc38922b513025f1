#include "backends/cpu/simd/dot_panels.h"

#include <algorithm>

#include "backends/cpu/simd/isa.h"

#if BURN_HAS_LEVELS
#include <immintrin.h>
#endif

namespace burn::backends::cpu {

#if BURN_HAS_LEVELS
namespace {

#define BURN_VECTORS [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]

// Transposes a tile, 16 lines of units to 16 units of lines or back, by exchanging halves of ever larger squares.
BURN_VECTORS void transpose(__m512i (&tile)[16]) {
  const __m512i kFirst[4] = {
      _mm512_setr_epi32(0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
      _mm512_setr_epi32(0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
      _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
  };
  const __m512i kSecond[4] = {
      _mm512_setr_epi32(1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31),
      _mm512_setr_epi32(2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31),
      _mm512_setr_epi32(4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31),
      _mm512_setr_epi32(8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31),
  };
#pragma GCC unroll 4
  for (int stage = 0; stage < 4; ++stage) {
    const int apart = 1 << stage;
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      if ((i & apart) != 0) continue;
      const __m512i x = tile[i], y = tile[i + apart];
      tile[i] = _mm512_permutex2var_epi32(x, kFirst[stage], y);
      tile[i + apart] = _mm512_permutex2var_epi32(x, kSecond[stage], y);
    }
  }
}

// A bit for each of the first `count` elements, at most `most` of them.
std::uint32_t first_bits(std::int64_t count, std::int64_t most) {
  if (count <= 0) return 0;
  return static_cast<std::uint32_t>((std::uint64_t{1} << (count < most ? count : most)) - 1);
}

// Where the tile of a line and a step begins in the pack.
std::uint32_t* tile_at(std::uint32_t* packed, const PanelRange& range, std::int64_t line, std::int64_t step) {
  return packed + (line / kPanelLines * range.steps + step) * kStepUnits + line % kPanelLines / 16 * kTileUnits;
}

// A step of a line, as much of it as `mask` selects.
BURN_VECTORS __m512i load_step(std::uint32_t mask, const std::uint16_t* from) {
  return _mm512_maskz_loadu_epi16(mask, from);
}
BURN_VECTORS __m512i load_step(std::uint32_t mask, const float* from) {
  return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
}

// Combines 16 numbers and those that follow them in the depth into pairs.
BURN_VECTORS __m512i join(__m256i first, __m256i second) {
  constexpr __mmask16 kAll = 0xffff;  // without a mask GCC 12 warns of its own header
  const __m512i low = _mm512_maskz_cvtepu16_epi32(kAll, first), high = _mm512_maskz_cvtepu16_epi32(kAll, second);
  return _mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16));
}

// A unit of each of 16 lines that are stored across, for lines in `mask`; `depth` numbers are left of each.
BURN_VECTORS __m512i load_units(__mmask16 mask, const std::uint16_t* from, std::int64_t stride, std::int64_t depth) {
  return join(_mm256_maskz_loadu_epi16(depth > 0 ? mask : 0, from),
              _mm256_maskz_loadu_epi16(depth > 1 ? mask : 0, from + stride));
}
BURN_VECTORS __m512i load_units(__mmask16 mask, const float* from, std::int64_t, std::int64_t depth) {
  return _mm512_maskz_loadu_epi32(depth > 0 ? mask : 0, from);
}

// Tiles packed side by side: this many cache lines are read in sequence, and as many are written to.
constexpr std::int64_t kTogether = 8;

template <typename T>
BURN_VECTORS void pack_along(const DotLines<T>& p, const PanelRange& range, std::uint32_t* packed) {
  constexpr auto kDepth = kStepDepth<T>;
  for (std::int64_t line = 0; line < range.panels * kPanelLines; line += 16) {
    for (std::int64_t first = 0; first < range.steps; first += kTogether) {
      const auto count = std::min(kTogether, range.steps - first), depth = range.depth + first * kDepth;
      std::uint32_t masks[kTogether];
      for (std::int64_t s = 0; s < count; ++s) masks[s] = first_bits(p.depth - depth - s * kDepth, kDepth);
      std::uint32_t* to = tile_at(packed, range, line, first);
      for (auto i = range.line + line; i < range.line + line + 16; ++i, to += 16) {
        const T* from = p.data + i * p.stride + depth;
        for (std::int64_t s = 0; s < count; ++s) {
          const auto mask = i < p.lines ? masks[s] : 0;
          _mm512_storeu_si512(to + s * kStepUnits, load_step(mask, from + s * kDepth));
        }
      }
    }
  }
}

template <typename T>
BURN_VECTORS void pack_across(const DotLines<T>& p, const PanelRange& range, std::uint32_t* packed) {
  const auto lines = range.panels * kPanelLines;
  for (std::int64_t first = 0; first < lines; first += 16 * kTogether) {
    const auto count = std::min(kTogether, (lines - first) / 16);
    std::uint32_t* to[kTogether];
    __mmask16 masks[kTogether];
    for (std::int64_t t = 0; t < count; ++t) {
      to[t] = tile_at(packed, range, first + 16 * t, 0);
      masks[t] = static_cast<__mmask16>(first_bits(p.lines - range.line - first - 16 * t, 16));
    }
    for (std::int64_t unit = 0; unit < range.steps * 16; ++unit) {
      const auto depth = range.depth + unit * kUnit<T>;
      const T* from = p.data + depth * p.stride + range.line + first;
      const auto place = unit / 16 * kStepUnits + unit % 16 * 16;
      for (std::int64_t t = 0; t < count; ++t)
        _mm512_storeu_si512(to[t] + place, load_units(masks[t], from + 16 * t, p.stride, p.depth - depth));
    }
  }
}

// Packs with transposed tiles, one by one.
template <typename T>
BURN_VECTORS void pack_transposed(const DotLines<T>& p, const PanelRange& range, std::uint32_t* packed) {
  for (std::int64_t line = 0; line < range.panels * kPanelLines; line += 16) {
    const auto first = range.line + line;
    const auto mask = static_cast<__mmask16>(first_bits(p.lines - first, 16));
    for (std::int64_t step = 0; step < range.steps; ++step) {
      const auto depth = range.depth + step * kStepDepth<T>;
      const auto steps_mask = first_bits(p.depth - depth, kStepDepth<T>);
      __m512i tile[16];
      for (int i = 0; i < 16; ++i) {
        const auto at = depth + i * kUnit<T>;
        tile[i] = p.is_across
                      ? load_units(mask, p.data + at * p.stride + first, p.stride, p.depth - at)
                      : load_step(first + i < p.lines ? steps_mask : 0, p.data + (first + i) * p.stride + depth);
      }
      transpose(tile);
      for (int i = 0; i < 16; ++i) _mm512_storeu_si512(tile_at(packed, range, line, step) + 16 * i, tile[i]);
    }
  }
}

#undef BURN_VECTORS

}  // namespace

template <typename T>
void pack_left(const DotLines<T>& lines, const PanelRange& range, std::uint32_t* packed) {
  (lines.is_across ? pack_transposed<T> : pack_along<T>)(lines, range, packed);
}
template <typename T>
void pack_right(const DotLines<T>& lines, const PanelRange& range, std::uint32_t* packed) {
  (lines.is_across ? pack_across<T> : pack_transposed<T>)(lines, range, packed);
}
#else
template <typename T>
void pack_left(const DotLines<T>&, const PanelRange&, std::uint32_t*) {}
template <typename T>
void pack_right(const DotLines<T>&, const PanelRange&, std::uint32_t*) {}
#endif

template void pack_left(const DotLines<std::uint16_t>&, const PanelRange&, std::uint32_t*);
template void pack_left(const DotLines<float>&, const PanelRange&, std::uint32_t*);
template void pack_right(const DotLines<std::uint16_t>&, const PanelRange&, std::uint32_t*);
template void pack_right(const DotLines<float>&, const PanelRange&, std::uint32_t*);

}  // namespace burn::backends::cpu
