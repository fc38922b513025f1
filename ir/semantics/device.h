// Lets the headers of kernel semantics (prelude.h, combine.h, convert.h, philox.h) be read by two compilers: the C++
// compiler, and NVRTC, which compiles generated kernels at run time and has no standard library. There the few names
// that these headers take from the library are defined here, with the same meaning; compile with
// --device-as-default-execution-space.
#pragma once

#ifndef __CUDACC_RTC__

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#define BURN_ALWAYS_INLINE [[gnu::always_inline]]

#else

#define BURN_ALWAYS_INLINE __forceinline__

namespace std {

using size_t = decltype(sizeof(0));
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;

template <typename T, typename U>
inline constexpr bool is_same_v = false;
template <typename T>
inline constexpr bool is_same_v<T, T> = true;
template <typename T>
inline constexpr bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, double>;

template <typename T>
struct type_identity {
  using type = T;
};
template <typename T>
using type_identity_t = typename type_identity<T>::type;

// The elements of tensors are of these types; `long` is int64_t by another name.
template <typename T>
struct make_unsigned;
// clang-format off
template <> struct make_unsigned<signed char> : type_identity<unsigned char> {};
template <> struct make_unsigned<unsigned char> : type_identity<unsigned char> {};
template <> struct make_unsigned<short> : type_identity<unsigned short> {};
template <> struct make_unsigned<unsigned short> : type_identity<unsigned short> {};
template <> struct make_unsigned<int> : type_identity<unsigned int> {};
template <> struct make_unsigned<unsigned int> : type_identity<unsigned int> {};
template <> struct make_unsigned<long> : type_identity<unsigned long> {};
template <> struct make_unsigned<unsigned long> : type_identity<unsigned long> {};
template <> struct make_unsigned<long long> : type_identity<unsigned long long> {};
template <> struct make_unsigned<unsigned long long> : type_identity<unsigned long long> {};
// clang-format on
template <typename T>
using make_unsigned_t = typename make_unsigned<T>::type;

template <typename T>
inline constexpr bool is_integral_v = is_same_v<T, bool> || requires { typename make_unsigned<T>::type; };
template <typename T>
inline constexpr bool is_signed_v = is_floating_point_v<T> || (is_integral_v<T> && T(-1) < T(0));
template <typename T>
inline constexpr bool is_unsigned_v = is_integral_v<T> && !is_signed_v<T>;

template <typename T>
struct numeric_limits {
  static constexpr T max() { return is_signed_v<T> ? T((T(1) << (sizeof(T) * 8 - 2)) - 1) * 2 + 1 : T(~T(0)); }
  static constexpr T min() { return is_signed_v<T> ? T(-max() - 1) : T(0); }
};
template <>
struct numeric_limits<float> {
  static float infinity() { return __int_as_float(0x7f800000); }
};
template <>
struct numeric_limits<double> {
  static double infinity() { return __longlong_as_double(0x7ff0000000000000LL); }
};

namespace numbers {
template <typename T>
inline constexpr T pi_v = static_cast<T>(3.141592653589793238462643383279502884);
}  // namespace numbers

using ::acos, ::acosh, ::asin, ::asinh, ::atan, ::atan2, ::atanh, ::ceil, ::cos, ::cosh, ::erf, ::exp, ::expm1, ::fabs,
    ::floor, ::fmod, ::hypot, ::log, ::log1p, ::pow, ::rint, ::sin, ::sinh, ::sqrt, ::tan, ::tanh, ::trunc;

}  // namespace std

#endif
