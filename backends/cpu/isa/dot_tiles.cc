#include "backends/cpu/isa/dot_tiles.h"

#include <algorithm>
#include <vector>

#include "backends/cpu/isa/isa.h"

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

// 16 lines of pairs become 16 pairs of lines, and the other way around: halves of ever smaller squares are exchanged.
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
  return packed + (line / kPanelLines * range.steps + step) * kStepPairs + line % kPanelLines / 16 * kTilePairs;
}

// Numbers [depth, depth + 32) of a line; beyond its end they are 0.
BURN_VECTORS __m512i load_along(const DotLines& p, std::int64_t line, std::int64_t depth) {
  if (line >= p.lines) return _mm512_setzero_si512();
  return _mm512_maskz_loadu_epi16(first_bits(p.depth - depth, 32), p.data + line * p.stride + depth);
}

// The pairs of 16 numbers and those that follow them.
BURN_VECTORS __m512i join(__m256i first, __m256i second) {
  constexpr __mmask16 kAll = 0xffff;  // without a mask GCC 12 warns of its own header
  const __m512i low = _mm512_maskz_cvtepu16_epi32(kAll, first), high = _mm512_maskz_cvtepu16_epi32(kAll, second);
  return _mm512_or_si512(low, _mm512_maskz_slli_epi32(kAll, high, 16));
}

// Numbers depth and depth + 1 of 16 lines that lie across.
BURN_VECTORS __m512i load_pairs(const DotLines& p, std::int64_t line, std::int64_t depth) {
  const auto mask = static_cast<__mmask16>(first_bits(p.lines - line, 16));
  const std::uint16_t* from = p.data + depth * p.stride + line;
  const __m256i none = _mm256_setzero_si256();
  return join(depth < p.depth ? _mm256_maskz_loadu_epi16(mask, from) : none,
              depth + 1 < p.depth ? _mm256_maskz_loadu_epi16(mask, from + p.stride) : none);
}

// Eight tiles side by side: so many lines of the cache are read one after the other, and so many are written to.
constexpr std::int64_t kTogether = 8;

BURN_VECTORS void pack_along(const DotLines& p, const PanelRange& range, std::uint32_t* packed) {
  for (std::int64_t line = 0; line < range.panels * kPanelLines; line += 16) {
    for (std::int64_t first = 0; first < range.steps; first += kTogether) {
      const auto count = std::min(kTogether, range.steps - first), depth = range.depth + first * kStepDepth;
      std::uint32_t masks[kTogether];
      for (std::int64_t s = 0; s < count; ++s) masks[s] = first_bits(p.depth - depth - s * kStepDepth, 32);
      std::uint32_t* to = tile_at(packed, range, line, first);
      for (auto i = range.line + line; i < range.line + line + 16; ++i, to += 16) {
        const std::uint16_t* from = p.data + i * p.stride + depth;
        for (std::int64_t s = 0; s < count; ++s) {
          const auto mask = i < p.lines ? masks[s] : 0;
          _mm512_storeu_si512(to + s * kStepPairs, _mm512_maskz_loadu_epi16(mask, from + s * kStepDepth));
        }
      }
    }
  }
}

BURN_VECTORS void pack_across(const DotLines& p, const PanelRange& range, std::uint32_t* packed) {
  const auto lines = range.panels * kPanelLines;
  for (std::int64_t first = 0; first < lines; first += 16 * kTogether) {
    const auto count = std::min(kTogether, (lines - first) / 16);
    std::uint32_t* to[kTogether];
    __mmask16 masks[kTogether];
    for (std::int64_t t = 0; t < count; ++t) {
      to[t] = tile_at(packed, range, first + 16 * t, 0);
      masks[t] = static_cast<__mmask16>(first_bits(p.lines - range.line - first - 16 * t, 16));
    }
    for (std::int64_t pair = 0; pair < range.steps * 16; ++pair) {
      const auto depth = range.depth + 2 * pair;
      const __mmask16 has_first = depth < p.depth ? 0xffff : 0, has_second = depth + 1 < p.depth ? 0xffff : 0;
      const std::uint16_t* from = p.data + depth * p.stride + range.line + first;
      const auto place = pair / 16 * kStepPairs + pair % 16 * 16;
      for (std::int64_t t = 0; t < count; ++t)
        _mm512_storeu_si512(to[t] + place,
                            join(_mm256_maskz_loadu_epi16(masks[t] & has_first, from + 16 * t),
                                 _mm256_maskz_loadu_epi16(masks[t] & has_second, from + p.stride + 16 * t)));
    }
  }
}

// The other way around, tile by tile.
BURN_VECTORS void pack_transposed(const DotLines& p, const PanelRange& range, std::uint32_t* packed) {
  for (std::int64_t line = 0; line < range.panels * kPanelLines; line += 16) {
    for (std::int64_t step = 0; step < range.steps; ++step) {
      const auto first = range.line + line, depth = range.depth + step * kStepDepth;
      __m512i tile[16];
      for (int i = 0; i < 16; ++i)
        tile[i] = p.is_across ? load_pairs(p, first, depth + 2 * i) : load_along(p, first + i, depth);
      transpose(tile);
      for (int i = 0; i < 16; ++i) _mm512_storeu_si512(tile_at(packed, range, line, step) + 16 * i, tile[i]);
    }
  }
}

// --- AVX-512 ---------------------------------------------------------------------------------------------------------

// Eight rows of the block at a time: with both halves of the columns 16 sums, for as many instructions under way.
BURN_VECTOR_PAIRS void multiply_vectors(const DotBlock& p) {
  for (int row = 0; row < 32; row += 8) {
    __m512 sums[8][2];
    for (int i = 0; i < 8; ++i)
      for (int half = 0; half < 2; ++half)
        sums[i][half] = p.adds ? _mm512_loadu_ps(p.sums + (row + i) * 32 + 16 * half) : _mm512_setzero_ps();
    const std::uint32_t* left = p.left + row / 16 * kTilePairs + row % 16 * 16;
    const std::uint32_t* right = p.right;
    for (auto step = p.steps; step > 0; --step, left += kStepPairs, right += kStepPairs) {
      for (int pair = 0; pair < 16; ++pair) {
        const auto first = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right + 16 * pair));
        const auto second = reinterpret_cast<__m512bh>(_mm512_loadu_si512(right + kTilePairs + 16 * pair));
#pragma GCC unroll 8
        for (int i = 0; i < 8; ++i) {
          const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(left[16 * i + pair])));
          sums[i][0] = _mm512_dpbf16_ps(sums[i][0], x, first);
          sums[i][1] = _mm512_dpbf16_ps(sums[i][1], x, second);
        }
      }
    }
    for (int i = 0; i < 8; ++i)
      for (int half = 0; half < 2; ++half) _mm512_storeu_ps(p.sums + (row + i) * 32 + 16 * half, sums[i][half]);
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
  const std::uint32_t *left = p.left, *right = p.right;
  for (auto step = p.steps; step > 0; --step, left += kStepPairs, right += kStepPairs) {
    _tile_loadd(4, left, kTileRow);
    _tile_loadd(6, right, kTileRow);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, right + kTilePairs, kTileRow);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, left + kTilePairs, kTileRow);
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

std::vector<DotTiles> find() {
  std::vector<DotTiles> found;
  if (!runs_v4()) return found;
  if (has_tiles()) found.push_back({"AMX", begin_tiles, multiply_tiles, end_tiles});
  if (__builtin_cpu_supports("avx512bf16") != 0) found.push_back({"AVX-512", do_nothing, multiply_vectors, do_nothing});
  return found;
}

}  // namespace

std::span<const DotTiles> dot_tiles() {
  static const auto& found = *new std::vector(find());  // of threads that outlive us
  return found;
}

void pack_left(const DotLines& lines, const PanelRange& range, std::uint32_t* packed) {
  (lines.is_across ? pack_transposed : pack_along)(lines, range, packed);
}
void pack_right(const DotLines& lines, const PanelRange& range, std::uint32_t* packed) {
  (lines.is_across ? pack_across : pack_transposed)(lines, range, packed);
}
#undef BURN_VECTORS
#undef BURN_VECTOR_PAIRS
#undef BURN_TILES
#else
std::span<const DotTiles> dot_tiles() { return {}; }
void pack_left(const DotLines&, const PanelRange&, std::uint32_t*) {}
void pack_right(const DotLines&, const PanelRange&, std::uint32_t*) {}
#endif

}  // namespace burn::backends::cpu
