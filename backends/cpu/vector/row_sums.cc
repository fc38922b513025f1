#include "backends/cpu/vector/row_sums.h"

#include <algorithm>
#include <optional>
#include <type_traits>

#include "backends/cpu/isa/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/vector/row_sums.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/vector/loop_choice-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

constexpr int kVectors = std::max(1, static_cast<int>(32 * sizeof(float) / HWY_MAX_BYTES));  // of 32 lanes
constexpr bool kIsWide = kVectors == 2 || kVectors == 4;

struct Only {
  static HWY_INLINE V of(V a, V) { return a; }
};

// As reduce_run of backends/cpu/isa/reduce_loops.h: element i of a block is added to lane i % 32, lanes are folded in
// halves, and blocks and what is left over are added in double.
struct Lanes {
  V x[kVectors];

  HWY_INLINE void clear() {
    for (auto& v : x) v = hn::Zero(F());
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

// What is computed of one row.
template <typename First, typename Fn, Summed kSummed, bool kStores, bool kRepeats>
struct Row {
  const float *a, *b;
  float* y;
  V repeated;
  std::int64_t ahead;  // elements

  HWY_INLINE V second(std::int64_t i) const {
    if constexpr (kRepeats) return repeated;
    return hn::LoadU(F(), b + i);
  }
  static HWY_INLINE V summand(V v) { return kSummed == Summed::squares ? hn::Mul(v, v) : v; }

  HWY_INLINE void one(std::int64_t i, V& total) const {
    const V v = anywhere<Fn>(First::of(hn::LoadU(F(), a + i), second(i)));
    if constexpr (kStores) hn::StoreU(v, F(), y + i);
    total = hn::Add(total, summand(v));
  }
  HWY_INLINE void four(std::int64_t i, Lanes& total) const {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(F()));
    // A line for each vector of 64 bytes: a few in between cost nothing, where all of a row at once would wait.
    if constexpr (!std::is_same_v<Fn, AsItIs>) {
      for (std::int64_t k = 0; k < 4 * lanes; k += 16) hwy::Prefetch(a + i + k + ahead);
    }
    const Pack x = load_pack(a + i);
    const Pack v = anywhere<Fn>(Pack{First::of(x.a, second(i)), First::of(x.b, second(i + lanes)),
                                     First::of(x.c, second(i + 2 * lanes)), First::of(x.d, second(i + 3 * lanes))});
    if constexpr (kStores) store_pack(v, y + i);
    total.x[0] = hn::Add(total.x[0], summand(v.a));
    total.x[1] = hn::Add(total.x[1], summand(v.b));
    total.x[2 % kVectors] = hn::Add(total.x[2 % kVectors], summand(v.c));
    total.x[3 % kVectors] = hn::Add(total.x[3 % kVectors], summand(v.d));
  }
  // The last n < 32 elements, one by one.
  void rest(std::int64_t i, std::int64_t n, double& sum) const {
    HWY_ALIGN float x[32] = {}, z[32] = {};
    std::copy_n(a + i, n, x);
    if constexpr (!kRepeats) std::copy_n(b + i, n, z);
    for (int k = 0; k < 32; k += static_cast<int>(hn::Lanes(F()))) {
      const V other = kRepeats ? repeated : hn::Load(F(), z + k);
      hn::Store(anywhere<Fn>(First::of(hn::Load(F(), x + k), other)), F(), x + k);
    }
    for (std::int64_t k = 0; k < n; ++k) {
      const float v = x[k];
      sum += static_cast<double>(kSummed == Summed::squares ? v * v : v);
      if constexpr (kStores) y[i + k] = v;
    }
  }

  HWY_INLINE float sum(std::int64_t n) const {
    constexpr std::int64_t kBlock = 4096;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(F()));
    double sum = 0;
    std::int64_t i = 0;
    while (n - i >= 32) {
      const auto end = i + std::min(n - i, kBlock) / 32 * 32;
      Lanes total;
      total.clear();
      for (; i + 4 * lanes <= end; i += 4 * lanes) four(i, total);
      for (; i < end; i += 32) {
        for (int k = 0; k < kVectors; ++k) one(i + k * lanes, total.x[k]);
      }
      sum += static_cast<double>(total.folded());
    }
    if (i < n) rest(i, n - i, sum);
    return static_cast<float>(sum);
  }
};

template <typename First, typename Fn, Summed kSummed, bool kStores, bool kRepeats>
void sum_rows(const RowSumArgs& args) {
  constexpr auto kSize = static_cast<std::int64_t>(sizeof(float));
  const auto* a = static_cast<const std::byte*>(args.a);
  const auto* b = static_cast<const std::byte*>(args.b);
  float* y = args.y;
  for (std::int64_t row = 0; row < args.rows; ++row, a += args.steps[0], b += args.steps[1]) {
    const auto* first = reinterpret_cast<const float*>(a);
    const auto* second = reinterpret_cast<const float*>(b);
    const Row<First, Fn, kSummed, kStores, kRepeats> work{first, second, y, hn::Set(F(), *second), args.ahead / kSize};
    args.results[row] = work.sum(args.n);
    if constexpr (kStores) y += args.n;
  }
}

template <typename First, typename Fn, Summed kSummed>
void run(const RowSumArgs& args) {
  if constexpr (!std::is_same_v<First, Only>) {
    if (args.b_stride != 0)
      return args.y ? sum_rows<First, Fn, kSummed, true, false>(args)
                    : sum_rows<First, Fn, kSummed, false, false>(args);
  }
  return args.y ? sum_rows<First, Fn, kSummed, true, true>(args) : sum_rows<First, Fn, kSummed, false, true>(args);
}

template <typename Fn, Summed kSummed>
RowSumLoop after_step(ir::PointwiseFn first) {
  return loop_by_step<RowSumLoop>(first, []<typename First>() -> RowSumLoop { return &run<First, Fn, kSummed>; });
}

RowSumLoop find_row_sum(const Chain& computed, Summed summed) {
  if constexpr (kIsWide) {
    if (summed == Summed::squares) {
      return computed.is_one_step() ? after_step<AsItIs, Summed::squares>(computed.fns[0]) : nullptr;
    }
    if (!computed.function || computed.steps > 0) return nullptr;
    return loop_by_function<RowSumLoop, ir::forms::after>(*computed.function, [&]<typename Fn>() -> RowSumLoop {
      if (!computed.before) return &run<Only, Fn, Summed::values>;
      return after_step<Fn, Summed::values>(*computed.before);
    });
  }
  return nullptr;
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(find_row_sum);

RowSumLoop row_sum_loop(const Chain& chain, Summed summed) {
  if (!runs_v3()) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_row_sum)(chain, summed);
}

}  // namespace burn::backends::cpu
#endif
