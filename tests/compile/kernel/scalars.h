// What the instructions of the kernel language compute, of single numbers that are kept as bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/half.h"
#include "compile/codegen/kernel/kernel.h"
#include "ir/dispatch.h"

namespace burn::testing {

using compile::kernel::Code;
using ir::DType;

[[noreturn]] inline void fail(const std::string& what) { throw std::runtime_error(what); }

template <typename T>
T number(std::uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

template <typename T>
std::uint64_t bits_of(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<std::uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<std::uint64_t>(value);
  else if constexpr (std::is_same_v<T, bool>)
    return value ? 1 : 0;
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

// Calls body.operator()<T>() for the type of a register: the 16-bit floats have none.
template <typename Body>
std::uint64_t by_type(DType type, Body&& body) {
  return ir::dispatch(type, [&]<typename T>() -> std::uint64_t {
    if constexpr (std::is_arithmetic_v<T>)
      return body.template operator()<T>();
    else
      fail("a register of a 16-bit float");
  });
}

template <typename T>
std::uint64_t whole(Code code, T a, T b) {
  using U = std::make_unsigned_t<std::conditional_t<std::is_same_v<T, bool>, unsigned char, T>>;
  const auto x = static_cast<std::uint64_t>(static_cast<U>(a)), y = static_cast<std::uint64_t>(static_cast<U>(b));
  const auto wrap = [](std::uint64_t bits) { return bits_of(static_cast<T>(bits)); };
  const auto shift = [&] {
    if (y >= sizeof(T) * 8) fail("a shift by more bits than the type has");
  };
  switch (code) {
    case Code::add:
      return wrap(x + y);
    case Code::sub:
      return wrap(x - y);
    case Code::mul:
      return wrap(x * y);
    case Code::div:
    case Code::rem:
      if (b == 0) fail("a division by 0");
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return code == Code::rem ? 0 : wrap(0 - x);
      return bits_of(static_cast<T>(code == Code::div ? a / b : a % b));
    case Code::neg:
      return wrap(0 - x);
    case Code::bit_and:
      return wrap(x & y);
    case Code::bit_or:
      return wrap(x | y);
    case Code::bit_xor:
      return wrap(x ^ y);
    case Code::bit_not:
      return std::is_same_v<T, bool> ? static_cast<std::uint64_t>(x == 0) : wrap(~x);
    case Code::shift_left:
      shift();
      return wrap(x << y);
    case Code::shift_right:
      shift();
      return bits_of(static_cast<T>(a >> y));
    default:
      fail(fmt::format("{} of whole numbers", compile::kernel::name_of(code)));
  }
}

template <typename T>
std::uint64_t real(Code code, T a, T b, T c) {
  switch (code) {
    case Code::add:
      return bits_of(a + b);
    case Code::sub:
      return bits_of(a - b);
    case Code::mul:
      return bits_of(a * b);
    case Code::div:
      return bits_of(a / b);
    case Code::neg:
      return bits_of(-a);
    case Code::fused_multiply_add:
      return bits_of(std::fma(a, b, c));
    case Code::floor:
      return bits_of(std::floor(a));
    case Code::ceil:
      return bits_of(std::ceil(a));
    case Code::round_even:
      return bits_of(std::nearbyint(a));
    case Code::trunc:
      return bits_of(std::trunc(a));
    case Code::sqrt:
      return bits_of(std::sqrt(a));
    case Code::abs:
      return bits_of(std::fabs(a));
    case Code::exp2:
      return bits_of(std::exp2(a));
    default:
      fail(fmt::format("{} of floats", compile::kernel::name_of(code)));
  }
}

// A device's own function (kernel.h).
template <typename T>
T library_function(compile::kernel::Function function, T a, T b) {
  using compile::kernel::Function;
  switch (function) {
#define BURN_LIBRARY_FUNCTION(name) \
  case Function::name:              \
    return std::name(a);
    BURN_LIBRARY_FUNCTION(acos)
    BURN_LIBRARY_FUNCTION(acosh)
    BURN_LIBRARY_FUNCTION(asin)
    BURN_LIBRARY_FUNCTION(asinh)
    BURN_LIBRARY_FUNCTION(atan)
    BURN_LIBRARY_FUNCTION(atanh)
    BURN_LIBRARY_FUNCTION(cos)
    BURN_LIBRARY_FUNCTION(cosh)
    BURN_LIBRARY_FUNCTION(erf)
    BURN_LIBRARY_FUNCTION(exp)
    BURN_LIBRARY_FUNCTION(expm1)
    BURN_LIBRARY_FUNCTION(log)
    BURN_LIBRARY_FUNCTION(log1p)
    BURN_LIBRARY_FUNCTION(sin)
    BURN_LIBRARY_FUNCTION(sinh)
    BURN_LIBRARY_FUNCTION(tan)
    BURN_LIBRARY_FUNCTION(tanh)
#undef BURN_LIBRARY_FUNCTION
    case Function::atan2:
      return std::atan2(a, b);
    case Function::fmod:
      return std::fmod(a, b);
    case Function::hypot:
      return std::hypot(a, b);
    case Function::pow:
      return std::pow(a, b);
    case Function::coarse_exp:
      return std::exp(a);
    case Function::coarse_recip:
      return 1 / a;
    case Function::coarse_rsqrt:
      return 1 / std::sqrt(a);
    case Function::coarse_sigmoid:
      return 1 / (1 + std::exp(-a));
    case Function::coarse_sqrt:
      return std::sqrt(a);
    case Function::coarse_tanh:
    case Function::coarse_tanh_beside_one:
      return std::tanh(a);
    case Function::coarse_div:
      return a / b;
    default:
      fail(fmt::format("{} is no function of floats", compile::kernel::name_of(function)));
  }
}

inline std::uint64_t called(compile::kernel::Function function, DType type, std::uint64_t a, std::uint64_t b) {
  using compile::kernel::Function;
  const auto raw = static_cast<std::uint16_t>(a);
  switch (function) {
    case Function::from_f16:
      return bits_of(static_cast<float>(std::bit_cast<Half>(raw)));
    case Function::from_bf16:
      return bits_of(static_cast<float>(std::bit_cast<BFloat16>(raw)));
    case Function::to_f16:
      return Half(number<float>(a)).bits;
    case Function::to_bf16:
      return BFloat16(number<float>(a)).bits;
    default:
      break;
  }
  return type == DType::f32 ? bits_of(library_function(function, number<float>(a), number<float>(b)))
                            : bits_of(library_function(function, number<double>(a), number<double>(b)));
}

template <typename T>
bool compared(Code code, T a, T b) {
  switch (code) {
    case Code::less:
      return a < b;
    case Code::less_equal:
      return a <= b;
    case Code::equal:
      return a == b;
    default:
      return a != b;
  }
}

// A float that does not fit gives an unspecified number: here one that differs from any sensible result.
template <typename To, typename From>
To converted(From x) {
  if constexpr (std::is_floating_point_v<From> && !std::is_floating_point_v<To>) {
    const auto limit = std::ldexp(From{1}, std::numeric_limits<To>::digits);
    if (!(x < limit && x >= (std::is_signed_v<To> ? -limit : From{0}))) return static_cast<To>(0x5a5a5a5a5a5a5a5a);
  }
  return static_cast<To>(x);
}

}  // namespace burn::testing
