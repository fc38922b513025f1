// The functions that the formulas of pointwise.def use beyond the operators, for C++ arithmetic types: one meaning for
// each, shared by the CPU backend, kernels generated for GPUs (NVRTC reads this file: ir/semantics/device.h), constant
// folding and the reference in the tests. Formulas are expanded inside this namespace.
#pragma once

#include "ir/semantics/device.h"

namespace burn::ir::prelude {

using std::acos, std::acosh, std::asin, std::asinh, std::atan, std::atan2, std::atanh, std::ceil, std::cos, std::cosh,
    std::erf, std::exp, std::expm1, std::floor, std::fmod, std::hypot, std::log, std::log1p, std::rint, std::sin,
    std::sinh, std::sqrt, std::tan, std::tanh, std::trunc;

template <typename T>
T abs(T x) {
  if constexpr (std::is_unsigned_v<T>)
    return x;
  else if constexpr (std::is_integral_v<T>)
    return x < 0 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x)) : x;
  else
    return std::fabs(x);
}

template <typename T>
T sign(T x) {
  return static_cast<T>((x > 0) - (x < 0));
}

// Second arguments may be the formula's literals: they take the first argument's type. A NaN in a is kept, one in b is
// not taken (as in the reference's max_pair); reductions let NaN win on their own.
template <typename T>
T max(T a, std::type_identity_t<T> b) {
  return a < b ? b : a;
}

template <typename T>
T min(T a, std::type_identity_t<T> b) {
  return b < a ? b : a;
}

template <typename T>
T div(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;  // no trap may come of a number off the wire
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));  // also for the smallest number
    }
    return static_cast<T>(a / b);
  } else {
    return a / b;
  }
}

// a - b * floor(a / b), Python's and PyTorch's remainder.
template <typename T>
T remainder(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
      const T r = static_cast<T>(a % b);
      return r != 0 && ((r < 0) != (b < 0)) ? static_cast<T>(r + b) : r;
    } else {
      return static_cast<T>(a % b);
    }
  } else {
    const T r = std::fmod(a, b);
    return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;
  }
}

template <typename T>
T pow(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      if (b < 0) return a == 1 ? 1 : (a == -1 ? static_cast<T>(b % 2 == 0 ? 1 : -1) : 0);
    }
    // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign is kept, as modulo 2^n it has to be
    std::uint64_t result = 1, base = static_cast<std::uint64_t>(a);  // wraps, where narrow types would promote to int
    for (; b != 0; b = static_cast<T>(b / 2)) {
      if (b % 2 != 0) result *= base;
      base *= base;
    }
    return static_cast<T>(result);
  } else {
    return std::pow(a, b);
  }
}

template <typename T>
T shift_left(T a, T b) {
  if (b < 0 || static_cast<std::uint64_t>(b) >= sizeof(T) * 8) return 0;
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << b);
}

template <typename T>
T shift_right(T a, T b) {
  if (b < 0 || static_cast<std::uint64_t>(b) >= sizeof(T) * 8) return static_cast<T>(a < 0 ? -1 : 0);
  return static_cast<T>(a >> b);
}

template <typename T>
T select(bool c, T a, T b) {
  return c ? a : b;
}

template <typename T>
T infinity(T) {
  return std::numeric_limits<T>::infinity();
}

}  // namespace burn::ir::prelude
