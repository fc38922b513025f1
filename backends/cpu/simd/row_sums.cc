#include "backends/cpu/simd/row_sums.h"

#include <optional>
#include <type_traits>

#include "backends/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/row_sums.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/simd/loop_choice-inl.h"
#include "backends/cpu/simd/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

struct FirstOperand {
  static HWY_INLINE V of(V a, V) { return a; }
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
    const Row<First, Fn, kSummed, kStores, kRepeats> work{first, second, y, hn::Set(F(), *second)};
    // A function hides the cost of prefetching, squares do not.
    std::conditional_t<std::is_same_v<Fn, IdentityFn>, NoCompanion, PrefetchCompanion> beside(first +
                                                                                              args.ahead / kSize);
    args.results[row] = work.sum(args.n, beside);
    if constexpr (kStores) y += args.n;
  }
}

template <typename First, typename Fn, Summed kSummed>
void run(const RowSumArgs& args) {
  if constexpr (!std::is_same_v<First, FirstOperand>) {
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
      return computed.is_one_step() ? after_step<IdentityFn, Summed::squares>(computed.fns[0]) : nullptr;
    }
    if (!computed.function || computed.steps > 0) return nullptr;
    return loop_by_function<RowSumLoop, ir::forms::after>(*computed.function, [&]<typename Fn>() -> RowSumLoop {
      if (!computed.before) return &run<FirstOperand, Fn, Summed::values>;
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
