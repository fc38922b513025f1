#include "backends/cpu/vector/chain_loops.h"

#include <algorithm>

#include "backends/cpu/isa/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/vector/chain_loops.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using F = hn::ScalableTag<float>;
using V = hn::Vec<F>;

struct Add { static HWY_INLINE V of(V a, V b) { return hn::Add(a, b); } };
struct Sub { static HWY_INLINE V of(V a, V b) { return hn::Sub(a, b); } };
struct SubFrom { static HWY_INLINE V of(V a, V b) { return hn::Sub(b, a); } };
struct Mul { static HWY_INLINE V of(V a, V b) { return hn::Mul(a, b); } };

template <typename First, typename Second>
void chain_run(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  const F f32;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(f32));
  // A repeated number is read again and again from a vector full of it, so that one loop serves all strides.
  HWY_ALIGN float repeated[3][HWY_MAX_BYTES / sizeof(float)];
  const float* x[3];
  std::int64_t step[3];
  for (int k = 0; k < 3; ++k) {
    x[k] = static_cast<const float*>(operands[k]);
    step[k] = strides[k] == 0 ? 0 : 1;
    if (step[k] != 0) continue;
    std::fill_n(repeated[k], lanes, *x[k]);
    x[k] = repeated[k];
  }
  auto* y = static_cast<float*>(result);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const V a = hn::LoadU(f32, x[0] + i * step[0]), b = hn::LoadU(f32, x[1] + i * step[1]);
    hn::StoreU(Second::of(First::of(a, b), hn::LoadU(f32, x[2] + i * step[2])), f32, y + i);
  }
  if (i == n) return;
  HWY_ALIGN float rest[4][HWY_MAX_BYTES / sizeof(float)] = {};
  for (int k = 0; k < 3; ++k) {
    for (std::int64_t j = 0; j < n - i; ++j) rest[k][j] = x[k][(i + j) * step[k]];
  }
  const auto load = [&](int k) HWY_ATTR { return hn::Load(f32, rest[k]); };
  hn::Store(Second::of(First::of(load(0), load(1)), load(2)), f32, rest[3]);
  std::copy_n(rest[3], n - i, y + i);
}

template <typename First>
RunLoop with_first(ir::PointwiseFn second, bool swapped) {
  switch (second) {
    case ir::PointwiseFn::add: return &chain_run<First, Add>;
    case ir::PointwiseFn::sub: return swapped ? &chain_run<First, SubFrom> : &chain_run<First, Sub>;
    case ir::PointwiseFn::mul: return &chain_run<First, Mul>;
    default: return nullptr;
  }
}

RunLoop find_chain(ir::PointwiseFn first, ir::PointwiseFn second, bool swapped) {
  switch (first) {
    case ir::PointwiseFn::add: return with_first<Add>(second, swapped);
    case ir::PointwiseFn::sub: return with_first<Sub>(second, swapped);
    case ir::PointwiseFn::mul: return with_first<Mul>(second, swapped);
    default: return nullptr;
  }
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(find_chain);

RunLoop chain_loop(ir::PointwiseFn first, ir::PointwiseFn second, bool swapped) {
  return runs_v3() ? HWY_DYNAMIC_DISPATCH(find_chain)(first, second, swapped) : nullptr;
}

}  // namespace burn::backends::cpu
#endif
