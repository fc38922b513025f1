// Sums what is computed from one row of f32; a companion processes a later row in the same pass.
#if defined(BURN_ROW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BURN_ROW_INL_H
#undef BURN_ROW_INL_H
#else
#define BURN_ROW_INL_H
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include <hwy/cache_control.h>

#include "backends/cpu/simd/float_functions-inl.h"
#include "backends/cpu/simd/row_sums.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

constexpr int kVectors = std::max(1, static_cast<int>(32 * sizeof(float) / HWY_MAX_BYTES));  // of 32 lanes
constexpr bool kIsWide = kVectors == 2 || kVectors == 4;

// As reduce_run of backends/cpu/simd/reduce_loops.h: element i of a block is added to lane i % 32, lanes are folded by
// halves, and blocks and remaining elements are added in double.
struct Lanes {
  V x[kVectors];

  HWY_INLINE void clear() {
    for (auto& v : x) v = hn::Zero(F());
  }
  HWY_INLINE void add(Pack v) {
    x[0] = hn::Add(x[0], v.a.a);
    x[1] = hn::Add(x[1], v.a.b);
    x[2 % kVectors] = hn::Add(x[2 % kVectors], v.b.a);
    x[3 % kVectors] = hn::Add(x[3 % kVectors], v.b.b);
  }
  HWY_INLINE void add_products(Pack v, Pack w) {
    x[0] = hn::MulAdd(v.a.a, w.a.a, x[0]);
    x[1] = hn::MulAdd(v.a.b, w.a.b, x[1]);
    x[2 % kVectors] = hn::MulAdd(v.b.a, w.b.a, x[2 % kVectors]);
    x[3 % kVectors] = hn::MulAdd(v.b.b, w.b.b, x[3 % kVectors]);
  }
  HWY_INLINE float folded() const {
    HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
    if constexpr (kVectors == 4)
      hn::Store(hn::Add(hn::Add(x[0], x[2]), hn::Add(x[1], x[3])), F(), lanes);
    else
      hn::Store(hn::Add(x[0], x[kVectors - 1]), F(), lanes);
    return fold<HWY_MAX_BYTES / sizeof(float)>(lanes);
  }
  template <int kWidth>
  static HWY_INLINE float fold(float* lanes) {
    if constexpr (kWidth == 1) {
      return lanes[0];
    } else {
      for (int l = 0; l < kWidth / 2; ++l) lanes[l] += lanes[l + kWidth / 2];
      return fold<kWidth / 2>(lanes);
    }
  }
};

// What a pass over a row does for another row: four() for elements [i, i + 4 vectors), one() for vector k of the 32
// elements at i, rest() for the last n < 32, begin_block() and end_block() around each block.
struct NoCompanion {
  explicit NoCompanion(const float*) {}
  HWY_INLINE void begin_block() {}
  HWY_INLINE void four(std::int64_t) {}
  HWY_INLINE void one(std::int64_t, int) {}
  HWY_INLINE void end_block() {}
  HWY_INLINE void rest(std::int64_t, std::int64_t) {}
};

// Prefetches memory that will be read next. One line for each vector of 64 bytes: a few in between cost nothing, but
// prefetching a whole row at once would wait.
struct PrefetchCompanion : NoCompanion {
  const float* x;

  explicit PrefetchCompanion(const float* at) : NoCompanion(at), x(at) {}
  HWY_INLINE void four(std::int64_t i) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(F()));
    for (std::int64_t k = 0; k < 4 * lanes; k += 16) hwy::Prefetch(x + i + k);
  }
};

// Two vectors or packs whose product, without rounding, is the value of a function.
template <typename T>
struct Factors {
  T a, b;
};

// Whether a function has a form for loops that add up its values without keeping them: Factors<T> factors(T x).
template <typename Fn>
concept HasFactors = requires(V x) { Fn::factors(x); };

// The computation for one row.
template <typename First, typename Fn, Summed kSummed, bool kStores, bool kRepeats>
struct Row {
  const float *a, *b;
  float* y;
  V repeated;

  template <typename T>
  HWY_INLINE T computed(std::int64_t i) const {  // the argument of the function
    const T second = kRepeats ? repeat<T>(repeated) : load<T>(b + i);
    return map(load<T>(a + i), second, [](V v, V w) HWY_ATTR { return First::of(v, w); });
  }
  template <typename T>
  static HWY_INLINE T summand(T v) {
    return kSummed == Summed::squares ? mul(v, v) : v;
  }

  static constexpr bool kAddsFactors = HasFactors<Fn> && kSummed == Summed::values && !kStores;

  HWY_INLINE void one(std::int64_t i, V& total) const {
    if constexpr (kAddsFactors) {
      const auto factors = Fn::factors(computed<V>(i));
      total = hn::MulAdd(factors.a, factors.b, total);
      return;
    }
    const V v = anywhere<Fn>(computed<V>(i));
    if constexpr (kStores) hn::StoreU(v, F(), y + i);
    total = hn::Add(total, summand(v));
  }
  HWY_INLINE void four(std::int64_t i, Lanes& total) const {
    if constexpr (kAddsFactors) {
      const auto factors = Fn::factors(computed<Pack>(i));
      return total.add_products(factors.a, factors.b);
    }
    const Pack v = anywhere<Fn>(computed<Pack>(i));
    if constexpr (kStores) store(v, y + i);
    total.add(summand(v));
  }
  // Adds the last n < 32 elements to the sum, one by one. All by value: what is passed by address stays in memory.
  static HWY_NOINLINE double with_rest(double sum, const float* a, const float* b, V repeated, float* y,
                                       std::int64_t n) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(F()));
    HWY_ALIGN float x[HWY_MAX_BYTES / sizeof(float)];
    for (std::int64_t i = 0; i < n; i += lanes) {
      const auto count = std::min(lanes, n - i);
      const V other = kRepeats ? repeated : load_some(b + i, count);
      const V v = anywhere<Fn>(First::of(load_some(a + i, count), other));
      if constexpr (kStores) store_some(v, count, y + i);
      hn::Store(summand(v), F(), x);
      for (std::int64_t k = 0; k < count; ++k) sum += static_cast<double>(x[k]);
    }
    return sum;
  }

  template <typename Companion>
  HWY_INLINE float sum(std::int64_t n, Companion& beside) const {
    constexpr std::int64_t kBlock = 4096;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(F()));
    double sum = 0;
    std::int64_t i = 0;
    while (n - i >= 32) {
      const auto end = i + std::min(n - i, kBlock) / 32 * 32;
      Lanes total;
      total.clear();
      beside.begin_block();
      for (; i + 4 * lanes <= end; i += 4 * lanes) {
        beside.four(i);
        four(i, total);
      }
      for (; i < end; i += 32) {
        for (int k = 0; k < kVectors; ++k) {
          one(i + k * lanes, total.x[k]);
          beside.one(i + k * lanes, k);
        }
      }
      sum += static_cast<double>(total.folded());
      beside.end_block();
    }
    if (i < n) {
      sum = with_rest(sum, a + i, kRepeats ? a : b + i, repeated, kStores ? y + i : y, n - i);
      beside.rest(i, n - i);
    }
    return static_cast<float>(sum);
  }
};

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
