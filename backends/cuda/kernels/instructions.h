// What kernels of the kernel language compute that C++ has no operator for (compile/codegen/dialects/cuda_kernel.cc).
// Compiled by NVRTC alone.
#pragma once

#include "backends/cuda/kernels/coarse.h"
#include "backends/cuda/kernels/number.h"
#include "ir/semantics/device.h"

namespace burn::cuda {

inline constexpr unsigned kWholeWarp = 0xffffffffu;

// --- whole numbers, which wrap ---

template <typename T>
using Unsigned = std::make_unsigned_t<T>;
// Unsigned, and not promoted to int.
template <typename T>
BURN_ALWAYS_INLINE auto wide(T x) {
  if constexpr (sizeof(T) < sizeof(unsigned)) {
    return static_cast<unsigned>(x);
  } else {
    return static_cast<Unsigned<T>>(x);
  }
}
template <typename T>
BURN_ALWAYS_INLINE T wrapped_add(T a, T b) {
  return static_cast<T>(wide(a) + wide(b));
}
template <typename T>
BURN_ALWAYS_INLINE T wrapped_sub(T a, T b) {
  return static_cast<T>(wide(a) - wide(b));
}
template <typename T>
BURN_ALWAYS_INLINE T wrapped_mul(T a, T b) {
  return static_cast<T>(wide(a) * wide(b));
}
template <typename T>
BURN_ALWAYS_INLINE T wrapped_neg(T x) {
  return static_cast<T>(0u - wide(x));
}

// --- bits ---

template <typename To, typename From>
BURN_ALWAYS_INLINE To same_bits(From x) {
  static_assert(sizeof(To) == sizeof(From));
  if constexpr (std::is_same_v<From, float>) {
    return static_cast<To>(__float_as_uint(x));
  } else if constexpr (std::is_same_v<From, double>) {
    return static_cast<To>(__double_as_longlong(x));
  } else if constexpr (std::is_same_v<To, float>) {
    return __uint_as_float(static_cast<unsigned>(x));
  } else if constexpr (std::is_same_v<To, double>) {
    return __longlong_as_double(static_cast<long long>(x));
  } else {
    return static_cast<To>(x);
  }
}
BURN_ALWAYS_INLINE std::uint64_t join(unsigned low, unsigned high) {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

// --- functions ---

BURN_ALWAYS_INLINE float from_f16(std::uint16_t bits) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(bits));
  return y;
}
BURN_ALWAYS_INLINE float from_bf16(std::uint16_t bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }
BURN_ALWAYS_INLINE std::uint16_t to_f16(float x) {
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
// The instruction that rounds two runs at four times the rate of that for one (on sm_90).
BURN_ALWAYS_INLINE std::uint16_t to_bf16(float x) {
  unsigned bits;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(x), "f"(0.0f));
  return static_cast<std::uint16_t>(bits >> 16);
}

BURN_ALWAYS_INLINE float coarse_exp(float x) { return coarse::exp(x); }
BURN_ALWAYS_INLINE float coarse_recip(float x) { return coarse::recip(x); }
BURN_ALWAYS_INLINE float coarse_rsqrt(float x) { return coarse::rsqrt(x); }
BURN_ALWAYS_INLINE float coarse_sigmoid(float x) { return coarse::sigmoid(x); }
BURN_ALWAYS_INLINE float coarse_sqrt(float x) { return coarse::sqrt(x); }
BURN_ALWAYS_INLINE float coarse_tanh(float x) { return coarse::tanh(x); }
BURN_ALWAYS_INLINE float coarse_tanh_beside_one(float x) { return coarse::tanh_beside_one(x); }
BURN_ALWAYS_INLINE float coarse_div(float a, float b) { return coarse::div(a, b); }

// --- warps ---

template <typename T>
BURN_ALWAYS_INLINE T broadcast(T x, int lane) {
  if constexpr (sizeof(T) < sizeof(int)) {
    return static_cast<T>(__shfl_sync(kWholeWarp, static_cast<int>(x), lane));
  } else {
    return __shfl_sync(kWholeWarp, x, lane);
  }
}

// Tiles of 16 x 16 elements, which a warp has together. `step`: words of 32 bits from line to line.
struct TileSums {
  float parts[8] = {};
};
struct half_t;
struct bfloat16_t;
template <typename T, bool kHasColumnsApart>
struct Tile {
  static constexpr int kWords = std::is_same_v<T, half_t> ? 8 : 4;
  unsigned words[kWords];
};

#define BURN_TILE_LOAD_F16(factor, layout)                                                                      \
  asm volatile("wmma.load." factor ".sync.aligned." layout                                                      \
               ".m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"                                     \
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]), "=r"(w[6]), "=r"(w[7]) \
               : "l"(from), "r"(2 * step)                                                                       \
               : "memory")
#define BURN_TILE_LOAD_BF16(factor, layout)                                                              \
  asm volatile("wmma.load." factor ".sync.aligned." layout ".m16n16k16.bf16 {%0, %1, %2, %3}, [%4], %5;" \
               : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])                                          \
               : "l"(from), "r"(2 * step)                                                                \
               : "memory")

template <typename T, bool kIsSecond, bool kHasColumnsApart, typename Word>
BURN_ALWAYS_INLINE Tile<T, kHasColumnsApart> load_tile(const Word* from, unsigned step) {
  Tile<T, kHasColumnsApart> tile;
  auto& w = tile.words;
  if constexpr (std::is_same_v<T, half_t>) {
    if constexpr (kIsSecond && kHasColumnsApart) BURN_TILE_LOAD_F16("b", "col");
    if constexpr (kIsSecond && !kHasColumnsApart) BURN_TILE_LOAD_F16("b", "row");
    if constexpr (!kIsSecond && kHasColumnsApart) BURN_TILE_LOAD_F16("a", "col");
    if constexpr (!kIsSecond && !kHasColumnsApart) BURN_TILE_LOAD_F16("a", "row");
  } else {
    if constexpr (kIsSecond && kHasColumnsApart) BURN_TILE_LOAD_BF16("b", "col");
    if constexpr (kIsSecond && !kHasColumnsApart) BURN_TILE_LOAD_BF16("b", "row");
    if constexpr (!kIsSecond && kHasColumnsApart) BURN_TILE_LOAD_BF16("a", "col");
    if constexpr (!kIsSecond && !kHasColumnsApart) BURN_TILE_LOAD_BF16("a", "row");
  }
  return tile;
}

#define BURN_TILE_SUMS "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]), "+f"(s[7])
#define BURN_TILE_MULTIPLY_F16(layouts)                                                                             \
  asm volatile("wmma.mma.sync.aligned." layouts                                                                     \
               ".m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, "      \
               "{%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"                        \
               : BURN_TILE_SUMS                                                                                     \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), \
                 "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]))
#define BURN_TILE_MULTIPLY_BF16(layouts)                                                             \
  asm volatile("wmma.mma.sync.aligned." layouts                                                      \
               ".m16n16k16.f32.bf16.bf16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, " \
               "{%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"                             \
               : BURN_TILE_SUMS                                                                      \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]))

template <typename T, bool kA, bool kB>
BURN_ALWAYS_INLINE void multiply_tiles(TileSums& sums, const Tile<T, kA>& first, const Tile<T, kB>& second) {
  auto& s = sums.parts;
  const auto &a = first.words, &b = second.words;
  if constexpr (std::is_same_v<T, half_t>) {
    if constexpr (kA && kB) BURN_TILE_MULTIPLY_F16("col.col");
    if constexpr (kA && !kB) BURN_TILE_MULTIPLY_F16("col.row");
    if constexpr (!kA && kB) BURN_TILE_MULTIPLY_F16("row.col");
    if constexpr (!kA && !kB) BURN_TILE_MULTIPLY_F16("row.row");
  } else {
    if constexpr (kA && kB) BURN_TILE_MULTIPLY_BF16("col.col");
    if constexpr (kA && !kB) BURN_TILE_MULTIPLY_BF16("col.row");
    if constexpr (!kA && kB) BURN_TILE_MULTIPLY_BF16("row.col");
    if constexpr (!kA && !kB) BURN_TILE_MULTIPLY_BF16("row.row");
  }
}

// `step`: elements from row to row.
BURN_ALWAYS_INLINE void store_tile(float* to, unsigned step, const TileSums& sums) {
  const auto& s = sums.parts;
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, %9;"
               :
               : "l"(to), "f"(s[0]), "f"(s[1]), "f"(s[2]), "f"(s[3]), "f"(s[4]), "f"(s[5]), "f"(s[6]), "f"(s[7]),
                 "r"(step)
               : "memory");
}

}  // namespace burn::cuda
