#include "backends/cpu/simd/float_loops.h"

#include <algorithm>
#include <type_traits>

#include "backends/cpu/simd/isa.h"

// Compiled once per instruction set: this file includes itself through foreach_target.h. For the baseline's vectors the
// plain loops are as fast.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/float_loops.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/simd/loop_choice-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

template <typename Fn, typename Before>
HWY_NOINLINE void four_anywhere(float* y, const float* x, const Before& before) {
  const F f32;
  for (std::size_t k = 0; k < 4; ++k, x += hn::Lanes(f32), y += hn::Lanes(f32)) {
    hn::StoreU(Fn::any(before(hn::LoadU(f32, x))), f32, y);
  }
}

// Four vectors at a time: they share constants and the check of their range. They stay in registers: the loop that
// takes over if they are out of range reads them again.
template <typename Fn, typename Before>
HWY_INLINE void four(float* y, const float* x, const Before& before) {
  const Pack v = map(load<Pack>(x), before);
  if constexpr (Fn::kRange != kEverywhere) {
    if (HWY_UNLIKELY(!all_within(Fn::kRange, v))) return four_anywhere<Fn>(y, x, before);
  }
  store(Fn::fast(v), y);
}

// y = Fn(before(x)), element by element.
template <typename Fn, typename Before>
HWY_INLINE void each_vector(std::int64_t n, float* y, const float* x, const Before& before) {
  const auto step = static_cast<std::int64_t>(4 * hn::Lanes(F()));
  std::int64_t i = 0;
  for (; i + step <= n; i += step) four<Fn>(y + i, x + i, before);
  // The rest in as few vectors as possible: there are few numbers per row, and a root of four vectors takes 80 cycles.
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(F()));
  for (; i + lanes <= n; i += lanes) hn::StoreU(anywhere<Fn>(before(hn::LoadU(F(), x + i))), F(), y + i);
  if (i == n) return;
  store_some(anywhere<Fn>(before(load_some(x + i, n - i))), n - i, y + i);
}

template <typename Fn>
void contiguous_run(std::int64_t n, float* y, const float* x) {
  each_vector<Fn>(n, y, x, [](V v) HWY_ATTR { return v; });
}

template <typename Fn>
void unary_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  auto* y = static_cast<float*>(result);
  const auto* x = static_cast<const float*>(operands[0]);
  if (strides[0] == 1) return contiguous_run<Fn>(n, y, x);
  if (strides[0] == 0) {
    float value = *x;
    contiguous_run<Fn>(1, &value, &value);
    std::fill_n(y, n, value);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i * strides[0]];
  contiguous_run<Fn>(n, y, y);
}

void divide_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  constexpr std::int64_t kFew = 16;  // so few are divided faster than the inverse is computed: the mean of a row
  const float divisor = *static_cast<const float*>(operands[1]);
  const bool is_plain = n < kFew || strides[0] != 1 || strides[1] != 0;
  if (!is_plain && DividedBy::has_exact_inverse(divisor)) {
    static const RunLoop multiply = numeric_loop(ir::PointwiseFn::mul, ir::DType::f32);
    const float factor = 1 / divisor;
    const void* factors[] = {operands[0], &factor};
    return multiply(n, result, factors, strides);
  }
  if (is_plain || !DividedBy::takes(divisor)) {
    static const RunLoop plain = numeric_loop(ir::PointwiseFn::div, ir::DType::f32);
    return plain(n, result, operands, strides);
  }
  const DividedBy quotient(divisor);
  each_vector<IdentityFn>(n, static_cast<float*>(result), static_cast<const float*>(operands[0]),
                          [quotient](V x) HWY_ATTR { return quotient(x); });
}

// Fn(a First b) in one pass if b is one number and a is not; anything else takes two passes.
template <typename First, typename Fn>
void run_after(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  auto* y = static_cast<float*>(result);
  const auto* x = static_cast<const float*>(operands[0]);
  if (strides[0] == 1 && strides[1] == 0) {
    const V b = hn::Set(F(), *static_cast<const float*>(operands[1]));
    return each_vector<Fn>(n, y, x, [b](V a) HWY_ATTR { return First::of(a, b); });
  }
  static const RunLoop first = numeric_loop(First::kFn, ir::DType::f32);
  first(n, result, operands, strides);
  contiguous_run<Fn>(n, y, y);
}

template <typename Fn>
void run_after_division(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  const float divisor = *static_cast<const float*>(operands[1]);
  auto* y = static_cast<float*>(result);
  if (strides[0] == 1 && strides[1] == 0 && DividedBy::takes(divisor)) {
    const auto* x = static_cast<const float*>(operands[0]);
    if constexpr (kToleratesQuotientError<Fn>) {
      const V inverse = hn::Set(F(), 1 / divisor);
      return each_vector<Fn>(n, y, x, [inverse](V a) HWY_ATTR { return hn::Mul(a, inverse); });
    }
    const DividedBy quotient(divisor);
    return each_vector<Fn>(n, y, x, [quotient](V a) HWY_ATTR { return quotient(a); });
  }
  divide_run(n, result, operands, strides);
  contiguous_run<Fn>(n, y, y);
}

RunLoop find_loop_after(ir::PointwiseFn first, ir::PointwiseFn fn) {
  return loop_by_function<RunLoop, ir::forms::after>(fn, [first]<typename Fn>() -> RunLoop {
    if (first == ir::PointwiseFn::div) return &run_after_division<Fn>;
    return loop_by_step<RunLoop>(first, []<typename First>() -> RunLoop { return &run_after<First, Fn>; });
  });
}

RunLoop find_loop(ir::PointwiseFn fn) {
  if (fn == ir::PointwiseFn::div) return &divide_run;
  return loop_by_function<RunLoop, ir::forms::alone>(fn, []<typename Fn>() -> RunLoop { return &unary_run<Fn>; });
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(find_loop);
HWY_EXPORT(find_loop_after);

RunLoop vector_loop(ir::PointwiseFn fn, ir::DType dtype) {
  if (dtype != ir::DType::f32 || !runs_v3()) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_loop)(fn);
}

RunLoop vector_loop_after(ir::PointwiseFn first, ir::PointwiseFn fn, ir::DType dtype) {
  if (dtype != ir::DType::f32 || !runs_v3()) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_loop_after)(first, fn);
}

}  // namespace burn::backends::cpu
#endif
