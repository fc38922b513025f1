#include "backends/cpu/simd/dot_tiles.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cpu/simd/isa.h"

#if BURN_HAS_LEVELS
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace burn::backends::cpu {

#if BURN_HAS_LEVELS
namespace {

#define BURN_VECTORS [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]]
#define BURN_VECTOR_PAIRS [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]]
#define BURN_TILES [[gnu::target("amx-tile,amx-bf16")]]

// --- packing ---------------------------------------------------------------------------------------------------------

// 16 lines of units become 16 units of lines, and the other way around: halves of ever smaller squares are exchanged.
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

// A bit for each of the first `count`, of at most `most`.
std::uint32_t first_bits(std::int64_t count, std::int64_t most) {
  if (count <= 0) return 0;
  return static_cast<std::uint32_t>((std::uint64_t{1} << (count < most ? count : most)) - 1);
}

// Where the tile of a line, or of a step, begins: of the pack's first panel.
std::uint32_t* tile_at(std::uint32_t* packed, const PanelRange& range, std::int64_t line, std::int64_t step) {
  return packed + (line / kPanelLines * range.steps + step) * kStepUnits + line % kPanelLines / 16 * kTileUnits;
}

// A step of a line, of which there is so much.
BURN_VECTORS __m512i load_step(std::uint32_t mask, const std::uint16_t* from) {
  return _mm512_maskz_loadu_epi16(mask, from);
}
BURN_VECTORS __m512i load_step(std::uint32_t mask, const float* from) {
  return _mm512_maskz_loadu_epi32(static_cast<__mmask16>(mask), from);
}

// The pairs of 16 numbers and those that follow them.
BURN_VECTORS __m512i join(__m256i first, __m256i second) {
  constexpr __mmask16 kAll = 0xffff;  // without a mask GCC 12 warns of its own header
  const __m512i low = _mm512_maskz_cvtepu16_epi32(kAll, first), high = _mm512_maskz_cvtepu16_epi32(kAll, second);
  return _mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16));
}

// A unit of each of 16 lines that lie across, of which `mask` are there; `depth` numbers are left of each.
BURN_VECTORS __m512i load_units(__mmask16 mask, const std::uint16_t* from, std::int64_t stride, std::int64_t depth) {
  return join(_mm256_maskz_loadu_epi16(depth > 0 ? mask : 0, from),
              _mm256_maskz_loadu_epi16(depth > 1 ? mask : 0, from + stride));
}
BURN_VECTORS __m512i load_units(__mmask16 mask, const float* from, std::int64_t, std::int64_t depth) {
  return _mm512_maskz_loadu_epi32(depth > 0 ? mask : 0, from);
}

template <typename T>
constexpr std::int64_t kUnit = kStepDepth<T> / 16;  // numbers

// Eight tiles side by side: so many lines of the cache are read one after the other, and so many are written to.
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

// The other way around, tile by tile.
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

// --- AVX-512 ---------------------------------------------------------------------------------------------------------

BURN_VECTOR_PAIRS __m512 multiply_add(std::uint16_t, __m512 sums, __m512i x, __m512i y) {
  return _mm512_dpbf16_ps(sums, reinterpret_cast<__m512bh>(x), reinterpret_cast<__m512bh>(y));
}
BURN_VECTOR_PAIRS __m512 multiply_add(float, __m512 sums, __m512i x, __m512i y) {
  return _mm512_fmadd_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y), sums);
}

std::int32_t unit_at(const std::byte* from) {
  std::int32_t unit = 0;
  std::memcpy(&unit, from, sizeof(unit));
  return unit;
}

// Eight rows of the block at a time: with both halves of the columns 16 sums, for as many instructions under way. Of
// the right operand as much at a time as stays in the first cache. (Of bf16's instructions those for f32 use none.)
template <typename T>
BURN_VECTOR_PAIRS void multiply_vectors(const DotBlock& p) {
  constexpr std::int64_t kPiece = 256;  // units of depth
  const auto units = (p.depth + kUnit<T> - 1) / kUnit<T>;
  for (std::int64_t first = 0; first < units; first += kPiece) {
    const bool adds = p.adds || first > 0;
    const auto count = std::min(kPiece, units - first);
    for (std::int64_t row = 0; row < p.rows; row += 8) {
      float* block = p.sums + row * kPanelLines;
      __m512 sums[8][2];
      for (int i = 0; i < 8; ++i)
        for (int half = 0; half < 2; ++half)
          sums[i][half] = adds ? _mm512_loadu_ps(block + i * kPanelLines + 16 * half) : _mm512_setzero_ps();
      const std::byte* left = p.left.data + row / 16 * p.left.half + row % 16 * p.left.line + first / 16 * p.left.step;
      const std::uint32_t* right = p.right + first / 16 * kStepUnits;
      for (std::int64_t done = 0; done < count; done += 16, left += p.left.step, right += kStepUnits) {
        const auto here = std::min<std::int64_t>(16, count - done);
        for (std::int64_t unit = 0; unit < here; ++unit) {
          const __m512i low = _mm512_loadu_si512(right + 16 * unit);
          const __m512i high = _mm512_loadu_si512(right + kTileUnits + 16 * unit);
#pragma GCC unroll 8
          for (int i = 0; i < 8; ++i) {
            const __m512i x = _mm512_set1_epi32(unit_at(left + i * p.left.line + 4 * unit));
            sums[i][0] = multiply_add(T{}, sums[i][0], x, low);
            sums[i][1] = multiply_add(T{}, sums[i][1], x, high);
          }
        }
      }
      for (int i = 0; i < 8; ++i)
        for (int half = 0; half < 2; ++half) _mm512_storeu_ps(block + i * kPanelLines + 16 * half, sums[i][half]);
    }
  }
}

void do_nothing() {}

// --- AMX -------------------------------------------------------------------------------------------------------------

struct TileConfig {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
alignas(64) constexpr TileConfig kTileConfig;

BURN_TILES void begin_tiles() { _tile_loadconfig(&kTileConfig); }
BURN_TILES void end_tiles() { _tile_release(); }

// Sums in tiles 0 to 3, the left operand's in 4 and 5, the right one's in 6 and 7.
BURN_TILES void multiply_tiles(const DotBlock& p) {
  constexpr long kSumRow = 32 * sizeof(float), kTileRow = 16 * sizeof(std::uint32_t);
  if (p.adds) {
    _tile_loadd(0, p.sums, kSumRow);
    _tile_loadd(1, p.sums + 16, kSumRow);
    _tile_loadd(2, p.sums + 16 * 32, kSumRow);
    _tile_loadd(3, p.sums + 16 * 32 + 16, kSumRow);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  const std::byte* left = p.left.data;
  const std::uint32_t* right = p.right;
  const auto line = p.left.line, half = p.left.half;
  for (auto depth = p.depth; depth > 0; depth -= kStepDepth<std::uint16_t>, left += p.left.step, right += kStepUnits) {
    _tile_loadd(4, left, line);
    _tile_loadd(6, right, kTileRow);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, right + kTileUnits, kTileRow);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, left + half, line);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, p.sums, kSumRow);
  _tile_stored(1, p.sums + 16, kSumRow);
  _tile_stored(2, p.sums + 16 * 32, kSumRow);
  _tile_stored(3, p.sums + 16 * 32 + 16, kSumRow);
}

// --- which of them ---------------------------------------------------------------------------------------------------

// Linux gives tiles' state only to processes that ask for it.
bool has_tiles() {
  constexpr unsigned kBFloat16 = 1U << 22, kTiles = 1U << 24;  // cpuid 7, edx
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & (kBFloat16 | kTiles)) != (kBFloat16 | kTiles)) return false;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

std::vector<DotTiles> find(std::uint16_t) {
  std::vector<DotTiles> found;
  if (!runs_v4()) return found;
  if (has_tiles()) found.push_back({"AMX", begin_tiles, multiply_tiles, end_tiles});
  if (__builtin_cpu_supports("avx512bf16") != 0)
    found.push_back({"AVX-512", do_nothing, multiply_vectors<std::uint16_t>, do_nothing});
  return found;
}

std::vector<DotTiles> find(float) {
  if (!runs_v4()) return {};
  return {{"AVX-512", do_nothing, multiply_vectors<float>, do_nothing}};
}

}  // namespace

template <typename T>
std::span<const DotTiles> dot_tiles() {
  static const auto& found = *new std::vector(find(T{}));  // of threads that outlive us
  return found;
}

template <typename T>
void pack_left(const DotLines<T>& lines, const PanelRange& range, std::uint32_t* packed) {
  (lines.is_across ? pack_transposed<T> : pack_along<T>)(lines, range, packed);
}
template <typename T>
void pack_right(const DotLines<T>& lines, const PanelRange& range, std::uint32_t* packed) {
  (lines.is_across ? pack_across<T> : pack_transposed<T>)(lines, range, packed);
}
#undef BURN_VECTORS
#undef BURN_VECTOR_PAIRS
#undef BURN_TILES
#else
template <typename T>
std::span<const DotTiles> dot_tiles() {
  return {};
}
template <typename T>
void pack_left(const DotLines<T>&, const PanelRange&, std::uint32_t*) {}
template <typename T>
void pack_right(const DotLines<T>&, const PanelRange&, std::uint32_t*) {}
#endif

#define BURN_INSTANTIATE(T)                                                          \
  template std::span<const DotTiles> dot_tiles<T>();                                 \
  template void pack_left<T>(const DotLines<T>&, const PanelRange&, std::uint32_t*); \
  template void pack_right<T>(const DotLines<T>&, const PanelRange&, std::uint32_t*);
BURN_INSTANTIATE(std::uint16_t)
BURN_INSTANTIATE(float)
#undef BURN_INSTANTIATE

}  // namespace burn::backends::cpu
