// Loops that convert one run of elements from one dtype to another.
#include "backends/cpu/isa/half_loops.h"

namespace burn::backends::cpu::BURN_ISA {
namespace {

// Toward zero, saturating; NaN gives 0.
template <typename To, typename From>
[[gnu::always_inline]] inline To saturate(From x) {
  constexpr From kLowest = static_cast<From>(std::numeric_limits<To>::min());
  constexpr From kBeyond = static_cast<From>(std::numeric_limits<To>::max() / 2 + 1) * 2;  // exact, unlike the maximum
  if (x >= kBeyond) return std::numeric_limits<To>::max();
  if (x <= kLowest) return std::numeric_limits<To>::min();
  return x != x ? To{0} : static_cast<To>(x);
}

template <typename To, typename From>
[[gnu::always_inline]] inline To convert(From x) {
  if constexpr (kIs16BitFloat<From>)
    return convert<To>(widen(x));
  else if constexpr (kIs16BitFloat<To>)
    return narrow<To>(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, bool>)
    return x != 0;
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return saturate<To>(x);
  else
    return static_cast<To>(x);
}

// A bool is a byte; as a choice between two numbers it vectorises, as a conversion it does not.
template <typename From, typename To>
[[gnu::always_inline]] inline To convert_stored(Stored<From> x) {
  if constexpr (std::is_same_v<From, bool>)
    return x != 0 ? convert<To>(1.0f) : convert<To>(0.0f);
  else
    return convert<To>(x);
}

template <typename From, typename To>
void cast_run(std::int64_t n, void* result, const void* source, std::int64_t stride) {
  auto* y = static_cast<Stored<To>*>(result);
  const auto* x = static_cast<const Stored<From>*>(source);
  if (stride == 1) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < n; ++i) y[i] = convert_stored<From, To>(x[i]);
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = convert_stored<From, To>(x[i * stride]);
  }
}

CastLoop find_cast(ir::DType from, ir::DType to) {
  return ir::dispatch(from, [to]<typename From>() {
    return ir::dispatch(to, []<typename To>() -> CastLoop { return &cast_run<From, To>; });
  });
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
