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
class DividedBy {
 public:
  explicit DividedBy(float divisor) : divisor_(hn::Set(F(), divisor)), inverse_(hn::Set(F(), 1 / divisor)) {}

  static bool takes(float divisor) { return std::abs(divisor) > 1e-18f && std::abs(divisor) < 1e18f; }

  HWY_INLINE V operator()(V x) const {
    const V q = hn::Mul(x, inverse_);
    const V rest = hn::NegMulAdd(q, divisor_, x);
    const auto is_finite = hn::Lt(hn::Abs(rest), hn::Inf(F()));  // an infinite quotient leaves no rest to correct by
    return hn::IfThenElse(is_finite, hn::MulAdd(rest, inverse_, q), q);
  }

 private:
  V divisor_, inverse_;
};

// y = of(x) element by element, without operands beside x.
template <typename Of>
HWY_INLINE void each_vector(std::int64_t n, float* y, const float* x, const Of& of) {
  const F f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(of(hn::LoadU(f32, x + i)), f32, y + i);
  if (i == n) return;
  HWY_ALIGN float rest[HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy_n(x + i, n - i, rest);
  hn::Store(of(hn::Load(f32, rest)), f32, rest);
  std::copy_n(rest, n - i, y + i);
}

void divide_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  const float divisor = *static_cast<const float*>(operands[1]);
  if (strides[0] != 1 || strides[1] != 0 || !DividedBy::takes(divisor)) {
    static const RunLoop plain = numeric_loop(ir::PointwiseFn::div, ir::DType::f32);
    return plain(n, result, operands, strides);
  }
  if (std::bit_cast<std::uint32_t>(divisor) << 9 == 0) {  // a power of two has an exact inverse
    static const RunLoop multiply = numeric_loop(ir::PointwiseFn::mul, ir::DType::f32);
    const float factor = 1 / divisor;
    const void* factors[] = {operands[0], &factor};
    return multiply(n, result, factors, strides);
  }
  const DividedBy quotient(divisor);
  each_vector(n, static_cast<float*>(result), static_cast<const float*>(operands[0]),
              [&](V x) HWY_ATTR { return quotient(x); });
}

struct Add { static HWY_INLINE V of(V a, V b) { return hn::Add(a, b); } };
struct Sub { static HWY_INLINE V of(V a, V b) { return hn::Sub(a, b); } };
struct Mul { static HWY_INLINE V of(V a, V b) { return hn::Mul(a, b); } };

// Fn(a First b) where b is one number and a is not; anything else takes two passes.
template <typename First, ir::PointwiseFn kFirst, typename Fn>
void run_after(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  auto* y = static_cast<float*>(result);
  const auto* x = static_cast<const float*>(operands[0]);
  if (strides[0] == 1 && strides[1] == 0) {
    const V b = hn::Set(F(), *static_cast<const float*>(operands[1]));
    return each_vector(n, y, x, [b](V a) HWY_ATTR { return Fn::of(First::of(a, b)); });
  }
  static const RunLoop first = numeric_loop(kFirst, ir::DType::f32);
  first(n, result, operands, strides);
  contiguous_run<Fn>(n, y, y);
}

template <typename Fn>
void run_after_division(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  const float divisor = *static_cast<const float*>(operands[1]);
  auto* y = static_cast<float*>(result);
  if (strides[0] == 1 && strides[1] == 0 && DividedBy::takes(divisor)) {
    const DividedBy quotient(divisor);
    return each_vector(n, y, static_cast<const float*>(operands[0]), [&](V x) HWY_ATTR { return Fn::of(quotient(x)); });
  }
  divide_run(n, result, operands, strides);
  contiguous_run<Fn>(n, y, y);
}

template <typename Fn>
RunLoop after(ir::PointwiseFn first) {
  switch (first) {
    case ir::PointwiseFn::add: return &run_after<Add, ir::PointwiseFn::add, Fn>;
    case ir::PointwiseFn::sub: return &run_after<Sub, ir::PointwiseFn::sub, Fn>;
    case ir::PointwiseFn::mul: return &run_after<Mul, ir::PointwiseFn::mul, Fn>;
    case ir::PointwiseFn::div: return &run_after_division<Fn>;
    default: return nullptr;
  }
}

RunLoop find_loop_after(ir::PointwiseFn first, ir::PointwiseFn fn) {
  switch (fn) {
    case ir::PointwiseFn::exp: return after<Exp>(first);
    case ir::PointwiseFn::log: return after<Log>(first);
    case ir::PointwiseFn::tanh: return after<Tanh>(first);
    case ir::PointwiseFn::erf: return after<Erf>(first);
    case ir::PointwiseFn::sigmoid: return after<Sigmoid>(first);
    default: return nullptr;
  }
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
