#include "backends/cpu/kernels/attention_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention_rows.cc"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

#include "backends/cpu/simd/float_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Calls body(vector index, load, store) for whole vectors and once, masked, for what is left.
template <typename Whole, typename Rest>
HWY_INLINE void for_each_vector(std::int64_t n, const Whole& whole, const Rest& rest) {
  const D d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) whole(i);
  if (i < n) rest(i, hn::FirstN(d, static_cast<std::size_t>(n - i)));
}

// e^x for x up to 0; a result that would be subnormal is 0.
HWY_INLINE V exp_negative(D d, V x) {
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -kExpRange)), keep_nan(x, fast_exp(x)));
}

float max_of(const float* HWY_RESTRICT x, std::int64_t n) {
  const D d;
  const V least = hn::Set(d, -std::numeric_limits<float>::infinity());
  V a = least, b = least;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    a = hn::Max(a, hn::LoadU(d, x + i));
    b = hn::Max(b, hn::LoadU(d, x + i + lanes));
  }
  for (; i + lanes <= n; i += lanes) a = hn::Max(a, hn::LoadU(d, x + i));
  if (i < n) {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(n - i));
    b = hn::Max(b, hn::IfThenElse(mask, hn::MaskedLoad(mask, d, x + i), least));
  }
  return hn::GetLane(hn::MaxOfLanes(d, hn::Max(a, b)));
}

float exp_all(float* HWY_RESTRICT x, std::int64_t n, float shift) {
  const D d;
  const V by = hn::Set(d, shift);
  V sum = hn::Zero(d);
  for_each_vector(
      n,
      [&](std::int64_t i) {
        const V e = exp_negative(d, hn::Sub(hn::LoadU(d, x + i), by));
        hn::StoreU(e, d, x + i);
        sum = hn::Add(sum, e);
      },
      [&](std::int64_t i, const auto& mask) {
        const V e = hn::IfThenElseZero(mask, exp_negative(d, hn::Sub(hn::MaskedLoad(mask, d, x + i), by)));
        hn::BlendedStore(e, mask, d, x + i);
        sum = hn::Add(sum, e);
      });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void scale_all(float* HWY_RESTRICT x, std::int64_t n, float factor) {
  const D d;
  const V by = hn::Set(d, factor);
  for_each_vector(
      n, [&](std::int64_t i) { hn::StoreU(hn::Mul(hn::LoadU(d, x + i), by), d, x + i); },
      [&](std::int64_t i, const auto& mask) {
        hn::BlendedStore(hn::Mul(hn::MaskedLoad(mask, d, x + i), by), mask, d, x + i);
      });
}

float dot(const float* HWY_RESTRICT x, const float* HWY_RESTRICT y, std::int64_t n) {
  const D d;
  V sum = hn::Zero(d);
  for_each_vector(
      n, [&](std::int64_t i) { sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum); },
      [&](std::int64_t i, const auto& mask) {
        sum = hn::MulAdd(hn::MaskedLoad(mask, d, x + i), hn::MaskedLoad(mask, d, y + i), sum);
      });
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void softmax_back(float* HWY_RESTRICT p, float* HWY_RESTRICT dp, std::int64_t n, float scale, float mean) {
  const D d;
  const V by = hn::Set(d, scale), less = hn::Set(d, mean);
  for_each_vector(
      n,
      [&](std::int64_t i) {
        const V q = hn::Mul(hn::LoadU(d, p + i), by);
        hn::StoreU(q, d, p + i);
        hn::StoreU(hn::Mul(q, hn::Sub(hn::LoadU(d, dp + i), less)), d, dp + i);
      },
      [&](std::int64_t i, const auto& mask) {
        const V q = hn::Mul(hn::MaskedLoad(mask, d, p + i), by);
        hn::BlendedStore(q, mask, d, p + i);
        hn::BlendedStore(hn::Mul(q, hn::Sub(hn::MaskedLoad(mask, d, dp + i), less)), mask, d, dp + i);
      });
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {

HWY_EXPORT(max_of);
HWY_EXPORT(exp_all);
HWY_EXPORT(scale_all);
HWY_EXPORT(dot);
HWY_EXPORT(softmax_back);

float row_max(const float* x, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(max_of)(x, n); }
float exp_row(float* x, std::int64_t n, float shift) { return HWY_DYNAMIC_DISPATCH(exp_all)(x, n, shift); }
void scale_row(float* x, std::int64_t n, float factor) { HWY_DYNAMIC_DISPATCH(scale_all)(x, n, factor); }
float dot_row(const float* x, const float* y, std::int64_t n) { return HWY_DYNAMIC_DISPATCH(dot)(x, y, n); }
void softmax_back_row(float* p, float* dp, std::int64_t n, float scale, float mean) {
  HWY_DYNAMIC_DISPATCH(softmax_back)(p, dp, n, scale, mean);
}

// f64 is used to check gradients: plain loops.
double row_max(const double* x, std::int64_t n) {
  double largest = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, x[i]);
  return largest;
}
double exp_row(double* x, std::int64_t n, double shift) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - shift);
  return sum;
}
void scale_row(double* x, std::int64_t n, double factor) {
  for (std::int64_t i = 0; i < n; ++i) x[i] *= factor;
}
double dot_row(const double* x, const double* y, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
void softmax_back_row(double* p, double* dp, std::int64_t n, double scale, double mean) {
  for (std::int64_t i = 0; i < n; ++i) {
    p[i] *= scale;
    dp[i] = p[i] * (dp[i] - mean);
  }
}

}  // namespace burn::backends::cpu
#endif
