#include "backends/cpu/vector/float_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "backends/cpu/isa/isa.h"

// Compiled once per instruction set: this file includes itself through foreach_target.h. What the baseline has, the
// plain loops do as well.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/vector/float_loops.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/vector/float_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

// What is beyond the range of a vector function, one by one.
template <typename Scalar>
HWY_INLINE V one_by_one(V x, const Scalar& scalar) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, F(), lanes);
  for (std::size_t i = 0; i < hn::Lanes(F()); ++i) lanes[i] = scalar(lanes[i]);
  return hn::Load(F(), lanes);
}

HWY_INLINE bool is_far(V x) { return !hn::AllTrue(F(), hn::Le(hn::Abs(x), constant(8192))); }

struct Exp { static HWY_INLINE V of(V x) { return exp(x); } };
struct Expm1 { static HWY_INLINE V of(V x) { return expm1(x); } };
struct Log { static HWY_INLINE V of(V x) { return log(x); } };
struct Log1p { static HWY_INLINE V of(V x) { return log1p(x); } };
struct Tanh { static HWY_INLINE V of(V x) { return tanh(x); } };
struct Erf { static HWY_INLINE V of(V x) { return erf(x); } };
struct Sigmoid { static HWY_INLINE V of(V x) { return sigmoid(x); } };
struct Sin {
  static HWY_INLINE V of(V x) {
    if (HWY_UNLIKELY(is_far(x))) return one_by_one(x, [](float a) { return std::sin(a); });
    return sin_turned(x, 0);
  }
};
struct Cos {
  static HWY_INLINE V of(V x) {
    if (HWY_UNLIKELY(is_far(x))) return one_by_one(x, [](float a) { return std::cos(a); });
    return sin_turned(x, 1);
  }
};

template <typename Fn>
void contiguous_run(std::int64_t n, float* y, const float* x) {
  const F f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {  // two at a time, so that one's latencies hide the other's
    const V a = Fn::of(hn::LoadU(f32, x + i)), b = Fn::of(hn::LoadU(f32, x + i + lanes));
    hn::StoreU(a, f32, y + i);
    hn::StoreU(b, f32, y + i + lanes);
  }
  for (; i < n; i += lanes) {
    HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)] = {};
    const auto size = std::min(lanes, n - i);
    std::copy_n(x + i, size, rest);
    hn::Store(Fn::of(hn::Load(f32, rest)), f32, rest);
    std::copy_n(rest, size, y + i);
  }
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

// Division by one number for all: a product with its inverse, and one step of correction (Markstein), which a fused
// multiply-add computes without rounding. So quotients are those of a division, at a third of its price.
void divide_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  const float divisor = *static_cast<const float*>(operands[1]);
  const float size = std::abs(divisor);
  if (strides[0] != 1 || strides[1] != 0 || !(size > 1e-18f && size < 1e18f)) {
    static const RunLoop plain = numeric_loop(ir::PointwiseFn::div, ir::DType::f32);
    return plain(n, result, operands, strides);
  }
  auto* y = static_cast<float*>(result);
  const auto* x = static_cast<const float*>(operands[0]);
  const F f32;
  const V d = hn::Set(f32, divisor), inverse = hn::Set(f32, 1 / divisor);
  // A power of two has an exact inverse.
  if (std::bit_cast<std::uint32_t>(divisor) << 9 == 0) {
    static const RunLoop multiply = numeric_loop(ir::PointwiseFn::mul, ir::DType::f32);
    const float factor = 1 / divisor;
    const void* factors[] = {operands[0], &factor};
    return multiply(n, result, factors, strides);
  }
  const auto quotient = [&](V a) HWY_ATTR {
    const V q = hn::Mul(a, inverse);
    const V rest = hn::NegMulAdd(q, d, a);
    return hn::IfThenElse(hn::Eq(rest, rest), hn::MulAdd(rest, inverse, q), q);  // an infinite q has no rest
  };
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(quotient(hn::LoadU(f32, x + i)), f32, y + i);
  for (; i < n; ++i) y[i] = x[i] / divisor;
}

RunLoop find_loop(ir::PointwiseFn fn) {
  switch (fn) {
    case ir::PointwiseFn::div: return &divide_run;
    case ir::PointwiseFn::exp: return &unary_run<Exp>;
    case ir::PointwiseFn::expm1: return &unary_run<Expm1>;
    case ir::PointwiseFn::log: return &unary_run<Log>;
    case ir::PointwiseFn::log1p: return &unary_run<Log1p>;
    case ir::PointwiseFn::tanh: return &unary_run<Tanh>;
    case ir::PointwiseFn::erf: return &unary_run<Erf>;
    case ir::PointwiseFn::sigmoid: return &unary_run<Sigmoid>;
    case ir::PointwiseFn::sin: return &unary_run<Sin>;
    case ir::PointwiseFn::cos: return &unary_run<Cos>;
    default: return nullptr;
  }
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(find_loop);

RunLoop vector_loop(ir::PointwiseFn fn, ir::DType dtype) {
  if (dtype != ir::DType::f32 || !runs_v3()) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_loop)(fn);
}

}  // namespace burn::backends::cpu
#endif
