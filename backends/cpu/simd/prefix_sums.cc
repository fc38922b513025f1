#include "backends/cpu/simd/prefix_sums.h"

#include "backends/cpu/simd/dispatch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/prefix_sums.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

double rest_of(std::int64_t n, double total, const float* x, float* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    total += static_cast<double>(x[i]);
    y[i] = static_cast<float>(total);
  }
  return total;
}

#if HWY_TARGET == HWY_SCALAR

double run(std::int64_t n, double before, const float* x, float* y) { return rest_of(n, before, x, y); }

#else

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using F = hn::Rebind<float, D>;
using I = hn::RebindToSigned<D>;

// Lane i of the result is lane i - kBy of v, and 0 before those.
template <int kBy>
HWY_INLINE hn::Vec<D> moved_up(hn::Vec<D> v) {
  const auto lane = hn::Sub(hn::Iota(I(), 0), hn::Set(I(), kBy));
  const auto within = hn::And(lane, hn::Set(I(), static_cast<std::int64_t>(hn::Lanes(D())) - 1));
  const auto moved = hn::TableLookupLanes(v, hn::IndicesFromVec(D(), within));
  return hn::IfThenZeroElse(hn::RebindMask(D(), hn::Lt(lane, hn::Zero(I()))), moved);
}

// Within a vector by sums of neighbours, pairs and fours; the sum before the vector is added last, so that the next
// vector waits for one addition.
double run(std::int64_t n, double before, const float* x, float* y) {
  const D d;
  const F f;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto last = hn::IndicesFromVec(d, hn::Set(I(), lanes - 1));
  auto total = hn::Set(d, before);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto v = hn::PromoteTo(d, hn::LoadU(f, x + i));
    v = hn::Add(v, moved_up<1>(v));
    if constexpr (hn::MaxLanes(D()) > 2) v = hn::Add(v, moved_up<2>(v));
    if constexpr (hn::MaxLanes(D()) > 4) v = hn::Add(v, moved_up<4>(v));
    hn::StoreU(hn::DemoteTo(f, hn::Add(total, v)), f, y + i);
    total = hn::Add(total, hn::TableLookupLanes(v, last));
  }
  return rest_of(n - i, hn::GetLane(total), x + i, y + i);
}

#endif

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(run);

double prefix_sums(std::int64_t n, double before, const float* x, float* y) {
  return BURN_BEST_VECTORS(run)(n, before, x, y);
}

}  // namespace burn::backends::cpu
#endif
