// Loops that convert one run of elements from one dtype to another.
#include "backends/cpu/simd/half_loops.h"

namespace burn::backends::cpu::BURN_ISA {
namespace {

template <typename To, typename From>
[[gnu::always_inline]] inline To convert(From x) {
  if constexpr (kIs16BitFloat<From>)
    return convert<To>(widen(x));
  else if constexpr (kIs16BitFloat<To>)
    return narrow<To>(static_cast<float>(x));
  else
    return ir::convert_number<To>(x);
}

// A bool is a byte; a choice between two numbers vectorises, a conversion does not.
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

template <typename T>
concept Integer = std::integral<T> && !std::same_as<T, bool>;

// Between integers: bits that are cut off or added in front depend only on the sign of the source, and if none are
// added, on no sign. So fewer loops are compiled.
template <typename From, typename To>
CastLoop cast_loop_for() {
  if constexpr (Integer<From> && Integer<To>) {
    using Bits = std::conditional_t<(sizeof(To) > sizeof(From)), From, std::make_unsigned_t<From>>;
    return &cast_run<Bits, std::make_unsigned_t<To>>;
  } else {
    return &cast_run<From, To>;
  }
}

inline CastLoop find_cast(ir::DType from, ir::DType to) {
  return ir::dispatch(from, [to]<typename From>() {
    return ir::dispatch(to, []<typename To>() -> CastLoop { return cast_loop_for<From, To>(); });
  });
}

}  // namespace
}  // namespace burn::backends::cpu::BURN_ISA
