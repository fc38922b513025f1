// Random tensors: for every dtype, numbers of 24 or more bits are drawn, scaled and shifted, and only then rounded to
// the dtype.
//
// The distribution's parameters are scalars of the run, so that layers of equal shape but different bounds share a
// program.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/half.h"
#include "client/fail.h"
#include "client/ops/integer_scalar.h"
#include "client/tensor/untyped.h"
#include "ir/dispatch.h"

namespace burn::client {
namespace {

using enum ir::PointwiseFn;
using Whole = Scalar::Whole;

std::string interval(const Distribution& d) {
  return "[" + std::to_string(d.a.as_double()) + ", " + std::to_string(d.b.as_double()) + ")";
}

// The largest number of the dtype below `x` rounded to the dtype.
double next_below(double x, ir::DType dtype) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto below_half = [&]<typename T>(T rounded) {  // 16 bits, of which the first is the sign
    const bool is_positive = static_cast<float>(rounded) > 0, is_zero = static_cast<float>(rounded) == 0;
    if (is_zero)
      rounded.bits = 0x8001;
    else
      rounded.bits = static_cast<std::uint16_t>(is_positive ? rounded.bits - 1 : rounded.bits + 1);
    return static_cast<double>(static_cast<float>(rounded));
  };
  switch (dtype) {
    case ir::DType::f64:
      return std::nextafter(x, -kInfinity);
    case ir::DType::f16:
      return below_half(Half(static_cast<float>(x)));
    case ir::DType::bf16:
      return below_half(BFloat16(static_cast<float>(x)));
    default:
      return std::nextafter(static_cast<float>(x), -std::numeric_limits<float>::infinity());
  }
}

double largest_of(ir::DType dtype) {
  return dtype == ir::DType::f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
}

Value scaled(const Value& x, double factor, double offset, const Site& site) {
  if (factor == 1 && offset == 0) return x;
  return pointwise(add, pointwise(mul, x, factor, site), offset, site);
}

Value uniform_floats(const Place& place, const ir::Shape& shape, const Distribution& d, ir::DType dtype,
                     const Site& site) {
  const auto drawn_as = ir::compute_dtype(dtype);
  const double low = d.a.as_double(), high = d.b.as_double();
  if (!(low <= high) || !(high - low <= largest_of(drawn_as))) {
    fail("random: uniform in " + interval(d) + ", which is no range of finite numbers of " +
             std::string{ir::name(dtype)},
         site);
  }
  Value x =
      cast(scaled(random(place, ir::RandomFn::uniform, shape, drawn_as, site), high - low, low, site), dtype, site);
  if (low == 0 && high == 1 && dtype == drawn_as) return x;
  return pointwise(min, x, std::max(low, next_below(high, dtype)), site);  // numbers that were rounded up to `high`
}

// floor(bits n / 2^64), by halves of 32 bits: every number below n, with the same probability up to 2^-64.
Value scaled_bits(const Value& bits, std::uint64_t n, const Site& site) {
  constexpr std::uint64_t kHalf = 0xffffffff;
  const auto upper = [&](const Value& x) { return pointwise(bitwise_right_shift, x, 32, site); };
  const auto lower = [&](const Value& x) { return pointwise(bitwise_and, x, kHalf, site); };
  const auto times = [&](const Value& x, std::uint64_t by) { return pointwise(mul, x, by, site); };
  const auto plus = [&](const Value& x, const Value& y) { return pointwise(add, x, y, site); };
  const Value high = upper(bits), low = lower(bits);
  const Value middle = plus(times(high, n & kHalf), upper(times(low, n & kHalf)));
  if (n <= kHalf) return upper(middle);
  const Value carry = upper(plus(times(low, n >> 32), lower(middle)));
  return plus(times(high, n >> 32), plus(upper(middle), carry));
}

Whole least_from(const Scalar& bound) {
  return bound.is_float() ? Scalar{std::ceil(bound.as_double())}.as_whole() : bound.as_whole();
}

Value uniform_integers(const Place& place, const ir::Shape& shape, const Distribution& d, ir::DType dtype,
                       const Site& site) {
  const Whole low = least_from(d.a), end = least_from(d.b);
  const auto range = range_of(dtype);
  if (std::isnan(d.a.as_double()) || std::isnan(d.b.as_double()) || low >= end) {
    fail("random: uniform in " + interval(d) + ", where there is no whole number", site);
  }
  if (low < range.lowest || end - 1 > range.highest) {
    fail("random: uniform in " + interval(d) + ", which are not all " + std::string{ir::name(dtype)}, site);
  }
  const Value bits = random(place, ir::RandomFn::bits, shape, ir::DType::u64, site);
  const Whole count = end - low;  // at most 2^64; for 2^64, all bits are used unchanged
  const Value x = count >> 64 == 0 ? scaled_bits(bits, static_cast<std::uint64_t>(count), site) : bits;
  return cast(pointwise(add, x, static_cast<std::uint64_t>(low), site), dtype, site);  // wraps for a negative `low`
}

Value normal(const Place& place, const ir::Shape& shape, const Distribution& d, ir::DType dtype, const Site& site) {
  if (!(d.b.as_double() >= 0)) {
    fail("random: normal with a deviation of " + std::to_string(d.b.as_double()) + ", which must be at least 0", site);
  }
  const bool is_whole = ir::is_integer(dtype);
  const auto drawn_as = ir::is_floating(dtype) ? ir::compute_dtype(dtype) : ir::DType::f64;
  const Value x =
      scaled(random(place, ir::RandomFn::normal, shape, drawn_as, site), d.b.as_double(), d.a.as_double(), site);
  return cast(is_whole ? pointwise(round, x, site) : x, dtype, site);
}

Value bernoulli(const Place& place, const ir::Shape& shape, const Distribution& d, ir::DType dtype, const Site& site) {
  const double probability = d.a.as_double();
  if (!(probability >= 0 && probability <= 1)) {
    fail("random: a probability of " + std::to_string(probability) + " is not between 0 and 1", site);
  }
  const auto drawn_as = dtype == ir::DType::f64 ? dtype : ir::DType::f32;
  return cast(pointwise(lower, random(place, ir::RandomFn::uniform, shape, drawn_as, site), probability, site), dtype,
              site);
}

}  // namespace

Value random(const ir::Shape& shape, const Distribution& distribution, const TensorOptions& options, const Site& site) {
  const auto place = options.place();
  const auto dtype = options.dtype.value_or(ir::DType::f32);
  switch (distribution.type) {
    case Distribution::Type::uniform:
      if (ir::is_integer(dtype)) return uniform_integers(place, shape, distribution, dtype, site);
      if (ir::is_floating(dtype)) return uniform_floats(place, shape, distribution, dtype, site);
      return cast(uniform_floats(place, shape, distribution, ir::DType::f32, site), dtype, site);
    case Distribution::Type::normal:
      return normal(place, shape, distribution, dtype, site);
    case Distribution::Type::bernoulli:
      break;
  }
  return bernoulli(place, shape, distribution, dtype, site);
}

}  // namespace burn::client
