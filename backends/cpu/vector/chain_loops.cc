#include "backends/cpu/vector/chain_loops.h"

#include <algorithm>

#include "backends/cpu/isa/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/vector/chain_loops.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/vector/loop_choice-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

struct SubFrom {
  static HWY_INLINE V of(V a, V b) { return hn::Sub(b, a); }
};
struct Stop {
  static HWY_INLINE V of(V a, V) { return a; }
};

template <typename Third, typename Compute>
HWY_INLINE void each_vector(std::int64_t n, float* y, const Source* x, const Compute& compute) {
  const F f32;
  constexpr bool kHasThird = !std::is_same_v<Third, Stop>;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  std::int64_t i = 0;
  auto a = x[0].begin(), b = x[1].begin(), c = x[2].begin(), d = x[kHasThird ? 3 : 2].begin();
  for (; i + lanes <= n; i += lanes) {
    const V va = a.next(), vb = b.next(), vc = c.next();
    hn::StoreU(compute(va, vb, vc, kHasThird ? d.next() : vc), f32, y + i);
  }
  if (i == n) return;
  const auto left = n - i;
  store_some(compute(x[0].rest(i, left), x[1].rest(i, left), x[2].rest(i, left), x[kHasThird ? 3 : 2].rest(i, left)),
             left, y + i);
}

template <typename First, typename Second, typename Third>
void chain_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  constexpr int kOperands = std::is_same_v<Third, Stop> ? 3 : 4;
  Source x[kOperands];
  for (int k = 0; k < kOperands; ++k) x[k].start(operands[k], strides[k]);
  auto* y = static_cast<float*>(result);
  if constexpr (std::is_same_v<First, Div>) {
    const float divisor = *static_cast<const float*>(operands[1]);
    if (strides[1] == 0 && DividedBy::takes(divisor)) {
      const DividedBy quotient(divisor);
      return each_vector<Third>(
          n, y, x, [quotient](V a, V, V c, V d) HWY_ATTR { return Third::of(Second::of(quotient(a), c), d); });
    }
  }
  each_vector<Third>(n, y, x, [](V a, V b, V c, V d) HWY_ATTR { return Third::of(Second::of(First::of(a, b), c), d); });
}

// A last step that divides by one number multiplies by its inverse where that is exact.
template <typename First, typename Second>
void chain_run_divided(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  const float divisor = *static_cast<const float*>(operands[3]);
  if (strides[3] == 0 && DividedBy::has_exact_inverse(divisor)) {
    const float inverse = 1 / divisor;
    const void* factors[] = {operands[0], operands[1], operands[2], &inverse};
    return chain_run<First, Second, Mul>(n, result, factors, strides);
  }
  chain_run<First, Second, Div>(n, result, operands, strides);
}

// Calls found.operator()<Step>() for the step; null for functions that are no step.
template <typename Found>
RunLoop with_step(ir::PointwiseFn fn, bool swapped, const Found& found) {
  if (fn == ir::PointwiseFn::sub && swapped) return found.template operator()<SubFrom>();
  return loop_by_step<RunLoop>(fn, found);
}

template <typename First>
RunLoop with_first(const Chain& chain) {
  return with_step(chain.fns[1], chain.swapped[1], [&]<typename Second>() -> RunLoop {
    if (chain.steps == 2) return &chain_run<First, Second, Stop>;
    if (chain.fns[2] == ir::PointwiseFn::div && !chain.swapped[2]) return &chain_run_divided<First, Second>;
    return with_step(chain.fns[2], chain.swapped[2],
                     []<typename Third>() -> RunLoop { return &chain_run<First, Second, Third>; });
  });
}

RunLoop find_chain(const Chain& chain) {
  if (chain.fns[0] == ir::PointwiseFn::div) return with_first<Div>(chain);
  return loop_by_step<RunLoop>(chain.fns[0], [&]<typename First>() { return with_first<First>(chain); });
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(find_chain);

RunLoop chain_loop(const Chain& chain) {
  if (chain.function || chain.steps < 2 || !runs_v3()) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_chain)(chain);
}

}  // namespace burn::backends::cpu
#endif
