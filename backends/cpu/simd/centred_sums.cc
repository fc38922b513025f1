#include "backends/cpu/simd/centred_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/reduce_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/centred_sums.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/simd/row-inl.h"

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The largest element of a row that is not NaN, found in the pass over another row.
struct CompanionMax : NoCompanion {
  const float* x;
  V best[4];
  float left = -kInfinity;

  explicit CompanionMax(const float* row) : NoCompanion(row), x(row) {
    for (auto& v : best) v = hn::Set(F(), -kInfinity);
  }
  // If an operand is NaN, Max returns the second.
  HWY_INLINE void one(std::int64_t i, int k) { best[k] = hn::Max(hn::LoadU(F(), x + i), best[k]); }
  HWY_INLINE void four(std::int64_t i) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(F()));
    for (int k = 0; k < 4; ++k) one(i + k * lanes, k);
  }
  HWY_INLINE void rest(std::int64_t i, std::int64_t n) {
    for (std::int64_t k = i; k < i + n; ++k) left = x[k] > left ? x[k] : left;
  }
  HWY_INLINE float found() const {
    const V all = hn::Max(hn::Max(best[0], best[1]), hn::Max(best[2], best[3]));
    return std::max(left, hn::GetLane(hn::MaxOfLanes(F(), all)));
  }
};

// The sum of a row, computed as in reduce_run, in the pass over another row.
struct CompanionSum : NoCompanion {
  const float* x;
  Lanes lanes;
  double sum = 0;

  explicit CompanionSum(const float* row) : NoCompanion(row), x(row) {}
  HWY_INLINE void begin_block() { lanes.clear(); }
  HWY_INLINE void one(std::int64_t i, int k) { lanes.x[k] = hn::Add(lanes.x[k], hn::LoadU(F(), x + i)); }
  HWY_INLINE void four(std::int64_t i) { lanes.add(load<Pack>(x + i)); }
  HWY_INLINE void end_block() { sum += static_cast<double>(lanes.folded()); }
  HWY_INLINE void rest(std::int64_t i, std::int64_t n) {
    for (std::int64_t k = i; k < i + n; ++k) sum += static_cast<double>(x[k]);
  }
};

float combined(ir::ReduceFn fn, std::int64_t n, const float* x) {
  static const ReduceLoops largest = reduce_loops(ir::ReduceFn::max, ir::DType::f32),
                           sum = reduce_loops(ir::ReduceFn::sum, ir::DType::f32);
  float result = 0;
  (fn == ir::ReduceFn::max ? largest : sum).each(1, n, x, &result);
  return result;
}

// exp for arguments up to 0.
struct ExpBelow : VectorForm<ir::PointwiseFn::exp> {
  // The largest element of a row contributes 1, compared with which 2^-126 is negligible.
  template <typename T>
  static HWY_INLINE Factors<T> factors(T x) {
    Factors<T> both;
    split_exp(x, both.a, both.b);
    return both;
  }
#if BURN_SCALES_ANYWHERE
  template <typename T>
  static HWY_INLINE T fast(T x) {
    return scaled_exp_up_to_89(x);
  }
#endif
};

struct LargestAndExps {
  using Fn = ExpBelow;
  using Companion = CompanionMax;
  [[maybe_unused]] static constexpr auto kSummed = Summed::values;

  static float centre(const CentredSumArgs& args, const float* x) { return combined(ir::ReduceFn::max, args.n, x); }
  // The plain loop decides between zeros, infinities and NaN.
  static HWY_INLINE float centre(const CentredSumArgs& args, const float* x, const CompanionMax& beside) {
    const float found = beside.found();
    return found == 0 || !std::isfinite(found) ? centre(args, x) : found;
  }
  // CompanionMax ignores NaN; but NaN appears in the row's sum, whose other summands are all within [0, 1].
  static HWY_INLINE void settle(const CentredSumArgs& args, float* y, float& centre, float sum) {
    if (HWY_LIKELY(!std::isnan(sum)) || !std::isfinite(centre)) return;
    centre = std::numeric_limits<float>::quiet_NaN();
    if (y) std::fill_n(y, args.n, centre);
  }
};

struct MeanAndSquares {
  using Fn = IdentityFn;
  using Companion = CompanionSum;
  [[maybe_unused]] static constexpr auto kSummed = Summed::squares;

  static float centre(const CentredSumArgs& args, const float* x) {
    return combined(ir::ReduceFn::sum, args.n, x) / args.divisor;
  }
  static HWY_INLINE float centre(const CentredSumArgs& args, const float*, const CompanionSum& beside) {
    return static_cast<float>(beside.sum) / args.divisor;
  }
  static void settle(const CentredSumArgs&, float*, float&, float) {}
};

template <typename Form, bool kStores>
void sum_rows(const CentredSumArgs& args) {
  const auto* a = static_cast<const std::byte*>(args.a);
  const auto* after = reinterpret_cast<const float*>(a + args.next_tile);
  float* y = args.y;
  float centre = args.starts ? Form::centre(args, static_cast<const float*>(args.a)) : *args.carried;
  for (std::int64_t row = 0; row < args.rows; ++row, a += args.step) {
    const auto* x = reinterpret_cast<const float*>(a);
    const Row<Sub, typename Form::Fn, Form::kSummed, kStores, true> work{x, x, y, hn::Set(F(), centre)};
    float next = 0;
    const bool is_last = row + 1 == args.rows;
    if (!is_last || !args.ends) {
      const auto* next_row = is_last ? after : reinterpret_cast<const float*>(a + args.step);
      typename Form::Companion beside(next_row);
      args.results[row] = work.sum(args.n, beside);
      next = Form::centre(args, next_row, beside);
    } else {
      NoCompanion beside(x);
      args.results[row] = work.sum(args.n, beside);
    }
    Form::settle(args, y, centre, args.results[row]);
    args.centres[row] = centre;
    centre = next;
    if constexpr (kStores) y += args.n;
  }
  if (!args.ends) *args.carried = centre;
}

template <typename Form>
void run(const CentredSumArgs& args) {
  args.y ? sum_rows<Form, true>(args) : sum_rows<Form, false>(args);
}

CentredSumLoop find_centred_sum(Centre centre) {
  if constexpr (kIsWide) return centre == Centre::largest ? &run<LargestAndExps> : &run<MeanAndSquares>;
  return nullptr;
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
HWY_EXPORT(find_centred_sum);

CentredSumLoop centred_sum_loop(const Chain& chain, Centre centre) {
  const bool is_exp_after_sub =
      chain.function == ir::PointwiseFn::exp && chain.before == ir::PointwiseFn::sub && chain.steps == 0;
  const bool is_sub = chain.is_one_step() && chain.fns[0] == ir::PointwiseFn::sub;
  if (!(centre == Centre::largest ? is_exp_after_sub : is_sub) || !runs_v3()) return nullptr;
  return HWY_DYNAMIC_DISPATCH(find_centred_sum)(centre);
}

}  // namespace burn::backends::cpu
#endif
