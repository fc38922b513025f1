#include <array>
#include <optional>
#include <utility>

#include "backends/cpu/simd/chain_loops.h"
#include "backends/cpu/simd/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/function_chain.cc"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backends/cpu/simd/loop_choice-inl.h"

#ifndef BURN_FUNCTION_PATTERN
#define BURN_FUNCTION_PATTERN
namespace burn::backends::cpu {

enum class Scale { none, mul, div };

// ((fn(x first b) + c) * d) last e, without the steps that a chain does not have.
struct FunctionPattern {
  static constexpr int kCount = 3 * 2 * 2 * 3 * 2;

  Scale first = Scale::none;
  bool adds = false, multiplies = false;
  Scale last = Scale::none;
  bool past_caches = false;

  constexpr int code() const {
    return (((static_cast<int>(first) * 2 + adds) * 2 + multiplies) * 3 + static_cast<int>(last)) * 2 + past_caches;
  }
  static constexpr FunctionPattern decode(int code) {
    return {static_cast<Scale>(code / 24), code / 12 % 2 == 1, code / 6 % 2 == 1, static_cast<Scale>(code / 2 % 3),
            code % 2 == 1};
  }
};

}  // namespace burn::backends::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace burn::backends::cpu::HWY_NAMESPACE {
namespace {

// The steps after a function: ((v + c) * d) last e.
template <typename Last>
struct OneByOne {
  static HWY_INLINE V of(V v, V c, V d, V e) { return Last::of(hn::Mul(hn::Add(v, c), d), e); }
};
// The same if e is a power of two and c is replaced by c e: one step less, with the same rounding.
struct ByPowerOfTwo {
  static HWY_INLINE V of(V v, V c, V d, V e) { return hn::Mul(hn::MulAdd(v, e, c), d); }
};

template <typename Fn, typename First, typename Finish, bool kPastCaches>
void run_vectors(std::int64_t n, float* y, const float* x, V b, const Source* steps) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(F()));
  auto c = steps[0].begin(), d = steps[1].begin(), e = steps[2].begin();
  const auto put = [&](V v, std::int64_t i) HWY_ATTR {
    const V vc = c.next(), vd = d.next(), ve = e.next();
    store<kPastCaches>(Finish::of(v, vc, vd, ve), y + i);
  };
  std::int64_t i = 0;
  for (; i + lanes_of<Pack>() <= n; i += lanes_of<Pack>())
    for_each_vector(anywhere<Fn>(map(load<Pack>(x + i), [b](V a) HWY_ATTR { return First::of(a, b); })), i, put);
  for (; i + lanes <= n; i += lanes) put(anywhere<Fn>(First::of(hn::LoadU(F(), x + i), b)), i);
  if (i == n) return;
  Source rest;
  rest.start(x, 1);
  const V v = anywhere<Fn>(First::of(rest.rest(i, n - i), b));
  store_some(Finish::of(v, steps[0].rest(i, n - i), steps[1].rest(i, n - i), steps[2].rest(i, n - i)), n - i, y + i);
}

template <typename Fn, typename First, typename Finish>
void run_stores(bool past_caches, std::int64_t n, float* y, const float* x, V b, const Source* steps) {
  if (past_caches && is_aligned(y)) return run_vectors<Fn, First, Finish, true>(n, y, x, b, steps);
  run_vectors<Fn, First, Finish, false>(n, y, x, b, steps);
}

// Missing steps become a product with 1 or a sum with -0, which change nothing.
template <typename Fn>
HWY_NOINLINE void run_pattern(FunctionPattern pattern, std::int64_t n, void* result, const void* const* operands,
                              const std::int64_t* strides) {
  static constexpr float kOne = 1, kNothing = -0.0f;
  int next = 1;
  float b = pattern.first == Scale::none ? 1 : *static_cast<const float*>(operands[next++]);
  const bool divides_first = pattern.first == Scale::div && !DividedBy::takes(b);
  if (pattern.first == Scale::div && !divides_first) b = 1 / b;

  Source steps[3];
  const auto start = [&](int k, bool is_there, const float* otherwise) {
    if (!is_there) return steps[k].start(otherwise, 0);
    steps[k].start(operands[next], strides[next]);
    ++next;
  };
  const int added = next;
  start(0, pattern.adds, &kNothing);
  start(1, pattern.multiplies, &kOne);
  start(2, pattern.last != Scale::none, &kOne);
  bool divides_last = pattern.last == Scale::div, by_power_of_two = false;
  if (pattern.last != Scale::none && strides[next - 1] == 0) {
    const float number = *static_cast<const float*>(operands[next - 1]);
    if (DividedBy::has_exact_inverse(number)) {
      const float scale = divides_last ? 1 / number : number;
      steps[2].start(&scale, 0);
      divides_last = false;
      // Near 1, so that small and large numbers stay normal either way; and not negative, or a zero would have the
      // other sign.
      by_power_of_two =
          kToleratesQuotientError<Fn> && pattern.adds && strides[added] == 0 && scale >= 0.0625f && scale <= 16;
      if (by_power_of_two) {
        const float scaled = *static_cast<const float*>(operands[added]) * scale;
        steps[0].start(&scaled, 0);
      }
    }
  }

  const V factor = hn::Set(F(), b);
  const auto run = [&]<typename First, typename Finish>() {
    run_stores<Fn, First, Finish>(pattern.past_caches, n, static_cast<float*>(result),
                                  static_cast<const float*>(operands[0]), factor, steps);
  };
  if constexpr (kToleratesQuotientError<Fn>) {
    if (by_power_of_two && divides_first) return run.template operator()<Div, ByPowerOfTwo>();
    if (by_power_of_two) return run.template operator()<Mul, ByPowerOfTwo>();
    if (divides_first && divides_last) return run.template operator()<Div, OneByOne<Div>>();
    if (divides_first) return run.template operator()<Div, OneByOne<Mul>>();
  }
  if (divides_last) return run.template operator()<Mul, OneByOne<Div>>();
  run.template operator()<Mul, OneByOne<Mul>>();
}

// A loop is a plain function, so there is one for every pattern.
template <typename Fn, int kPattern>
void loop_for(std::int64_t n, void* result, const void* const* operands, const std::int64_t* strides) {
  run_pattern<Fn>(FunctionPattern::decode(kPattern), n, result, operands, strides);
}

template <typename Fn>
RunLoop loop_of(FunctionPattern pattern) {
  if (pattern.first == Scale::div && !kToleratesQuotientError<Fn>) return nullptr;
  static constexpr auto kLoops = []<int... kPatterns>(std::integer_sequence<int, kPatterns...>) {
    return std::array<RunLoop, sizeof...(kPatterns)>{&loop_for<Fn, kPatterns>...};
  }(std::make_integer_sequence<int, FunctionPattern::kCount>());
  return kLoops[static_cast<std::size_t>(pattern.code())];
}

RunLoop find_function_chain(ir::PointwiseFn fn, FunctionPattern pattern) {
  return loop_by_function<RunLoop, ir::forms::chain>(fn, [&]<typename Fn>() { return loop_of<Fn>(pattern); });
}

}  // namespace
}  // namespace burn::backends::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace burn::backends::cpu {
namespace {

HWY_EXPORT(find_function_chain);

std::optional<Scale> scale_of(ir::PointwiseFn fn) {
  if (fn == ir::PointwiseFn::mul) return Scale::mul;
  if (fn == ir::PointwiseFn::div) return Scale::div;
  return std::nullopt;
}

std::optional<FunctionPattern> pattern_of(const Chain& chain) {
  FunctionPattern pattern;
  if (chain.before) {
    const auto first = scale_of(*chain.before);
    if (!first) return std::nullopt;
    pattern.first = *first;
  }
  for (int k = 0; k < chain.steps; ++k) {
    const auto scale = scale_of(chain.fns[k]);
    if (chain.fns[k] == ir::PointwiseFn::add && k == 0) {
      pattern.adds = true;
    } else if (!scale || (*scale == Scale::div && chain.swapped[k]) || pattern.last != Scale::none) {
      return std::nullopt;
    } else if (*scale == Scale::mul && !pattern.multiplies) {
      pattern.multiplies = true;
    } else {
      pattern.last = *scale;
    }
  }
  return pattern;
}

}  // namespace

RunLoop function_chain_loop(const Chain& chain, Store store) {
  auto pattern = pattern_of(chain);
  if (!chain.function || chain.steps == 0 || !pattern || !runs_v3()) return nullptr;
  pattern->past_caches = store == Store::past_caches;
  return HWY_DYNAMIC_DISPATCH(find_function_chain)(*chain.function, *pattern);
}

}  // namespace burn::backends::cpu
#endif
