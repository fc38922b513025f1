// The functions of the kernel language against the C library in twice their precision.
#include "compile/codegen/kernel/functions.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/compile/kernel/map_kernel.h"

namespace burn::testing {
namespace {

using kernel::Value;
using Real = long double;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T>
ir::DType type_of() {
  return std::is_same_v<T, float> ? ir::DType::f32 : ir::DType::f64;
}

// Zeros, infinities, NaN, the largest and smallest, and numbers of all exponents. Subnormal ones too.
template <typename T>
std::vector<T> numbers(std::size_t count) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> all{0,
                     1,
                     2,
                     Limits::infinity(),
                     Limits::quiet_NaN(),
                     Limits::max(),
                     Limits::min(),
                     Limits::denorm_min(),
                     T(0.5),
                     T(3),
                     T(1e-4),
                     T(0.34),
                     T(0.36),
                     T(0.9999999),
                     T(1.0000001),
                     T(88.7),
                     T(709.7)};
  for (int n = 1; n < 40; ++n) all.push_back(static_cast<T>(n * std::numbers::pi / 4));
  std::mt19937_64 random(7);
  using Bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  std::uniform_real_distribution<T> near(0, 16);
  while (all.size() < count) {
    all.push_back(near(random));
    const auto any = std::bit_cast<T>(static_cast<Bits>(random()));
    all.push_back(std::fabs(any));
  }
  const auto half = all.size();
  for (std::size_t i = 0; i < half; ++i) all.push_back(-all[i]);
  return all;
}

// The distance between two numbers in units of the last place of the exact one. Zero if both are NaN, or the same
// infinity or zero.
template <typename T>
double units(T got, Real exact) {
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : kInfinity;
  const T nearest = static_cast<T>(exact);
  if (got == nearest) return std::signbit(got) == std::signbit(nearest) || got != 0 ? 0 : kInfinity;
  if (std::isinf(got)) {  // as if the range went on
    got = std::copysign(std::numeric_limits<T>::max(), got);
  }
  const T size = std::max(std::fabs(nearest), std::numeric_limits<T>::min());
  const T largest = std::min(size, std::numeric_limits<T>::max());
  const T unit = largest - std::nextafter(largest, T{0});  // of the binade below, where it is a power of two
  const Real limit = std::isinf(nearest) ? std::copysign(Real{std::numeric_limits<T>::max()}, exact) : exact;
  return static_cast<double>(std::fabs(static_cast<Real>(got) - limit) / static_cast<Real>(unit));
}

template <typename T>
void expect_close(const char* name, Value (*function)(Value), Real (*exact)(Real), std::size_t count, double most = 4,
                  bool has_exp2 = false) {
  const ir::DType from[] = {type_of<T>()};
  const auto kernel = map_kernel(
      from, type_of<T>(), [&](auto&, auto x) { return function(x[0]); }, 64, has_exp2);
  const auto in = numbers<T>(count);
  const auto out = run_map<T>(kernel, in);
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const double error = units(out[i], exact(static_cast<Real>(in[i])));
    if (error > worst) worst = error, at = i;
  }
  std::printf("  %-6s %s: at most %.2f units\n", name, std::string(ir::name(type_of<T>())).c_str(), worst);
  EXPECT_LE(worst, most) << name << "(" << in[at] << ") = " << out[at] << " instead of "
                         << static_cast<double>(exact(static_cast<Real>(in[at])));
}

#define FUNCTION(name)                                               \
  {                                                                  \
    #name, kernel::name, [](Real x) -> Real { return std::name(x); } \
  }
struct Function {
  const char* name;
  Value (*function)(Value);
  Real (*exact)(Real);
};
constexpr Function kFunctions[] = {FUNCTION(exp),  FUNCTION(expm1), FUNCTION(log),   FUNCTION(log1p), FUNCTION(sinh),
                                   FUNCTION(cosh), FUNCTION(tanh),  FUNCTION(asinh), FUNCTION(acosh), FUNCTION(atanh),
                                   FUNCTION(erf),  FUNCTION(sin),   FUNCTION(cos),   FUNCTION(tan),   FUNCTION(asin),
                                   FUNCTION(acos), FUNCTION(atan),  FUNCTION(sqrt)};

TEST(KernelFunctions, OfF32AreWithinFourUnitsOfTheExactValue) {
  for (const auto& [name, function, exact] : kFunctions) expect_close<float>(name, function, exact, 40000);
}

// With powers of two that the device computes by itself, exactly rounded here.
TEST(KernelFunctions, ExponentialsByPowersOfTwoAreWithinTwoUnits) {
  const auto& [name, function, exact] = kFunctions[0];
  expect_close<float>(name, function, exact, 200000, 2, true);
}

TEST(KernelFunctions, OfF64AreWithinFourUnitsOfTheExactValue) {
  for (const auto& [name, function, exact] : kFunctions) expect_close<double>(name, function, exact, 8000);
}

template <typename T>
void expect_pairs_close(const char* name, Value (*function)(Value, Value), Real (*exact)(Real, Real), double most) {
  const ir::DType from[] = {type_of<T>(), type_of<T>()};
  const auto kernel = map_kernel(from, type_of<T>(), [&](auto&, auto x) { return function(x[0], x[1]); });
  const auto some = numbers<T>(60);
  std::vector<T> a, b;
  for (const auto x : some) {
    for (const auto y : some) a.push_back(x), b.push_back(y);
  }
  std::mt19937 random(3);
  std::uniform_real_distribution<T> near(-8, 8);
  for (int i = 0; i < 10000; ++i) a.push_back(std::fabs(near(random))), b.push_back(near(random));
  const auto out = run_map<T>(kernel, a, b);
  double worst = 0;
  std::size_t at = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double error = units(out[i], exact(static_cast<Real>(a[i]), static_cast<Real>(b[i])));
    if (error > worst) worst = error, at = i;
  }
  std::printf("  %-6s %s: at most %.2f units\n", name, std::string(ir::name(type_of<T>())).c_str(), worst);
  EXPECT_LE(worst, most) << name << "(" << a[at] << ", " << b[at] << ") = " << out[at] << " instead of "
                         << static_cast<double>(exact(static_cast<Real>(a[at]), static_cast<Real>(b[at])));
}

TEST(KernelFunctions, OfTwoNumbersAreTheCLibrarysAtZerosInfinitiesAndNan) {
  expect_pairs_close<float>(
      "pow", kernel::power, [](Real a, Real b) -> Real { return std::pow(a, b); }, 4);
  expect_pairs_close<float>(
      "atan2", kernel::atan2, [](Real a, Real b) -> Real { return std::atan2(a, b); }, 4);
  expect_pairs_close<float>(
      "hypot", kernel::hypot, [](Real a, Real b) -> Real { return std::hypot(a, b); }, 4);
  expect_pairs_close<float>(
      "fmod", kernel::fmod, [](Real a, Real b) -> Real { return std::fmod(a, b); }, 0);
  expect_pairs_close<double>(
      "atan2", kernel::atan2, [](Real a, Real b) -> Real { return std::atan2(a, b); }, 4);
  expect_pairs_close<double>(
      "hypot", kernel::hypot, [](Real a, Real b) -> Real { return std::hypot(a, b); }, 4);
  expect_pairs_close<double>(
      "fmod", kernel::fmod, [](Real a, Real b) -> Real { return std::fmod(a, b); }, 0);
  expect_pairs_close<double>(
      "pow", kernel::power, [](Real a, Real b) -> Real { return std::pow(a, b); }, 4);
}

}  // namespace
}  // namespace burn::testing
