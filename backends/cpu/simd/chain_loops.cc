#include "backends/cpu/simd/chain_loops.h"

#include <algorithm>

#include "backends/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/chain_loops.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/simd/loop_choice-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

struct SubFrom {
  static HWY_INLINE V of(V a, V b) { return hn::Sub(b, a); }
};
struct Stop {
  static HWY_INLINE V of(V a, V) { return a; }
};

// For operands that a chain does not have, others are passed again; compilers remove them.
template <typename Compute>
HWY_INLINE void each_vector(std::int64_t n, float* y, const Source& first, const Source& second, const Source& third,
                            const Source& fourth, const Source& fifth, const Compute& compute) {
  const F f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  std::int64_t i = 0;
  auto a = first.begin(), b = second.begin(), c = third.begin(), d = fourth.begin(), e = fifth.begin();
  for (; i + lanes <= n; i += lanes) {
    const V va = a.next(), vb = b.next(), vc = c.next(), vd = d.next(), ve = e.next();
    hn::StoreU(compute(va, vb, vc, vd, ve), f32, y + i);
  }
  if (i == n) return;
  const auto left = n - i;
  store_some(compute(first.rest(i, left), second.rest(i, left), third.rest(i, left), fourth.rest(i, left),
                     fifth.rest(i, left)),
             left, y + i);
}

template <typename First, typename Second, typename Third>
void chain_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  constexpr int kOperands = std::is_same_v<Third, Stop> ? 3 : 4;
  Source x[kOperands];
  for (int k = 0; k < kOperands; ++k) x[k].start(operands[k], strides[k]);
  auto* y = static_cast<float*>(result);
  const auto each = [&](const auto& compute) HWY_ATTR {
    each_vector(n, y, x[0], x[1], x[2], x[kOperands - 1], x[0],
                [&](V a, V b, V c, V d, V) HWY_ATTR { return compute(a, b, c, d); });
  };
  if constexpr (std::is_same_v<First, Div>) {
    const float divisor = *static_cast<const float*>(operands[1]);
    if (strides[1] == 0 && DividedBy::takes(divisor)) {
      const DividedBy quotient(divisor);
      return each([quotient](V a, V, V c, V d) HWY_ATTR { return Third::of(Second::of(quotient(a), c), d); });
    }
  }
  each([](V a, V b, V c, V d) HWY_ATTR { return Third::of(Second::of(First::of(a, b), c), d); });
}

// The steps of a norm; if a row has one number to centre by and one to scale by, these stay in registers.
template <typename Scale, typename Factor, typename Offset>
void norm_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  constexpr int kFactor = std::is_same_v<Factor, Stop> ? 0 : 3, kOffset = std::is_same_v<Offset, Stop> ? 0 : 4;
  auto* y = static_cast<float*>(result);
  Source x, factor, offset;
  x.start(operands[0], strides[0]);
  factor.start(operands[kFactor], strides[kFactor]);
  offset.start(operands[kOffset], strides[kOffset]);
  if (strides[1] == 0 && strides[2] == 0) {
    const V centre = hn::Set(F(), *static_cast<const float*>(operands[1]));
    const float by = *static_cast<const float*>(operands[2]);
    const auto each = [&](const auto& scaled) HWY_ATTR {
      each_vector(n, y, x, x, x, factor, offset, [centre, scaled](V a, V, V, V d, V e) HWY_ATTR {
        return Offset::of(Factor::of(scaled(hn::Sub(a, centre)), d), e);
      });
    };
    if constexpr (std::is_same_v<Scale, Mul>)
      return each([scale = hn::Set(F(), by)](V v) HWY_ATTR { return hn::Mul(v, scale); });
    else if (DividedBy::takes(by))
      return each(DividedBy(by));
  }
  Source centre, scale;
  centre.start(operands[1], strides[1]);
  scale.start(operands[2], strides[2]);
  each_vector(n, y, x, centre, scale, factor, offset, [](V a, V b, V c, V d, V e) HWY_ATTR {
    return Offset::of(Factor::of(Scale::of(hn::Sub(a, b), c), d), e);
  });
}

// A last step that divides by one number multiplies by its inverse if that is exact.
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

// Calls found.operator()<Step>() for the step; null for functions that are not a step.
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

template <typename Scale>
RunLoop norm_loop(int steps) {
  if (steps == 2) return &norm_run<Scale, Stop, Stop>;
  return steps == 3 ? &norm_run<Scale, Mul, Stop> : &norm_run<Scale, Mul, Add>;
}

// Sums and products may have their operands swapped.
bool is_norm(const Chain& chain) {
  using Fn = ir::PointwiseFn;
  const auto* fns = chain.fns;
  const bool divides = fns[1] == Fn::div && !chain.swapped[1];
  return fns[0] == Fn::sub && (divides || fns[1] == Fn::mul) && (chain.steps < 3 || fns[2] == Fn::mul) &&
         (chain.steps < 4 || fns[3] == Fn::add);
}

RunLoop find_chain(const Chain& chain) {
  if (is_norm(chain))
    return chain.fns[1] == ir::PointwiseFn::div ? norm_loop<Div>(chain.steps) : norm_loop<Mul>(chain.steps);
  if (chain.steps > 3) return nullptr;
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
