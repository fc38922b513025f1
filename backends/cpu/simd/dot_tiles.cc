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

#define BURN_VECTOR_PAIRS [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]]
#define BURN_TILES [[gnu::target("amx-tile,amx-bf16")]]

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

// Eight rows of the block at a time: with both halves of the columns 16 sums, for as many instructions in flight. Only
// as much of the right operand at a time as stays in the first-level cache. (For f32 no bf16 instruction is used.)
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

// Linux enables the state of tiles only for processes that request it.
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
  static const auto& found = *new std::vector(find(T{}));  // never destroyed: threads may outlive it
  return found;
}
#undef BURN_VECTOR_PAIRS
#undef BURN_TILES
#else
template <typename T>
std::span<const DotTiles> dot_tiles() {
  return {};
}
#endif

template std::span<const DotTiles> dot_tiles<std::uint16_t>();
template std::span<const DotTiles> dot_tiles<float>();

}  // namespace burn::backends::cpu
