#include "client/ops/integer_scalar.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "client/fail.h"

namespace burn {

std::int64_t Scalar::bits(ir::DType dtype) const {
  if (ir::is_floating(dtype)) return std::bit_cast<std::int64_t>(as_double());
  if (ir::is_bool(dtype)) return as_double() != 0 ? 1 : 0;
  const auto range = client::range_of(dtype);
  return static_cast<std::int64_t>(std::clamp(as_whole(), range.lowest, range.highest));
}

namespace client {
namespace {

using Whole = Scalar::Whole;
using Fn = ir::PointwiseFn;

Scalar to_scalar(Whole x) {
  return x > std::numeric_limits<std::int64_t>::max() ? Scalar{static_cast<std::uint64_t>(x)}
                                                      : Scalar{static_cast<std::int64_t>(x)};
}

std::string to_string(const Scalar& number) {
  char text[40];
  if (number.is_float()) {
    std::snprintf(text, sizeof text, "%.17g", number.as_double());
    return text;
  }
  const Whole x = number.as_whole();
  return x < 0 ? std::to_string(static_cast<std::int64_t>(x)) : std::to_string(static_cast<std::uint64_t>(x));
}

[[noreturn]] void fail_range(std::string_view op, const Scalar& number, ir::DType dtype, const Site& site) {
  const auto range = range_of(dtype);
  fail(std::string{op} + ": " + to_string(number) + " is no " + std::string{ir::name(dtype)} + ", which has " +
           to_string(to_scalar(range.lowest)) + " to " + to_string(to_scalar(range.highest)),
       site);
}

bool is_whole(const Scalar& number) {
  return !number.is_float() || std::trunc(number.as_double()) == number.as_double();
}

Whole round_down(const Scalar& number) {
  return number.is_float() ? Scalar{std::floor(number.as_double())}.as_whole() : number.as_whole();
}
Whole round_up(const Scalar& number) {
  return number.is_float() ? Scalar{std::ceil(number.as_double())}.as_whole() : number.as_whole();
}

bool is_comparison(Fn fn) { return ir::row(fn).kind == ir::PointwiseClass::compare; }

IntegerOperation comparison(Fn fn, const Scalar& number, const IntegerRange& range) {
  const IntegerOperation always{Fn::lower_equal, to_scalar(range.highest)},
      never{Fn::greater, to_scalar(range.highest)};
  if (std::isnan(number.as_double())) return fn == Fn::not_equal ? always : never;
  // x < 0.5 is x < 1, and x <= 0.5 is x <= 0.
  const Whole x = fn == Fn::lower || fn == Fn::greater_equal ? round_up(number) : round_down(number);
  switch (fn) {
    case Fn::equal:
    case Fn::not_equal:
      if (is_whole(number) && range.contains(x)) return {fn, to_scalar(x)};
      return fn == Fn::equal ? never : always;
    case Fn::lower:
    case Fn::lower_equal:
      if (range.contains(x)) return {fn, to_scalar(x)};
      return x > range.highest ? always : never;
    default:  // greater, greater_equal
      if (range.contains(x)) return {fn, to_scalar(x)};
      return x < range.lowest ? always : never;
  }
}

bool wraps(Fn fn) {
  switch (fn) {
    case Fn::add:
    case Fn::sub:
    case Fn::mul:
    case Fn::bitwise_and:
    case Fn::bitwise_or:
    case Fn::bitwise_xor:
      return true;
    default:
      return false;
  }
}

void check_whole(std::string_view op, const Scalar& number, ir::DType dtype, const Site& site) {
  if (is_whole(number)) return;
  fail(std::string{op} + ": " + to_string(number) + " is no whole number, the tensor is " +
           std::string{ir::name(dtype)} + "; to_float() makes it one of floats",
       site);
}

Scalar operand(Fn fn, const Scalar& number, ir::DType dtype, const Site& site) {
  check_whole(ir::name(fn), number, dtype, site);
  const auto range = range_of(dtype);
  const Whole x = number.as_whole();
  if (range.contains(x)) return to_scalar(x);
  if (number.is_float() || !wraps(fn)) fail_range(ir::name(fn), number, dtype, site);
  const Whole size = range.highest - range.lowest + 1;
  const Whole rest = ((x - range.lowest) % size + size) % size;
  return to_scalar(range.lowest + rest);
}

}  // namespace

IntegerRange range_of(ir::DType dtype) {
  const auto bits = 8 * ir::size_of(dtype);
  if (ir::dtype_class(dtype) == ir::DTypeClass::unsigned_integer) return {0, (Whole{1} << bits) - 1};
  return {-(Whole{1} << (bits - 1)), (Whole{1} << (bits - 1)) - 1};
}

IntegerOperation with_integers(Fn fn, Scalar number, ir::DType dtype, const Site& site) {
  if (is_comparison(fn)) return comparison(fn, number, range_of(dtype));
  if ((fn == Fn::max || fn == Fn::min) && !std::isnan(number.as_double())) {
    const auto range = range_of(dtype);
    return {fn,
            to_scalar(std::clamp(fn == Fn::max ? round_up(number) : round_down(number), range.lowest, range.highest))};
  }
  return {fn, operand(fn, number, dtype, site)};
}

Scalar integer_to_store(Scalar number, ir::DType dtype, const Site& site) {
  const Whole x = number.as_whole();
  if (std::isnan(number.as_double()) || !range_of(dtype).contains(x)) fail_range("scalar", number, dtype, site);
  return to_scalar(x);
}

const Scalar& exact_integer(const Scalar& number, ir::DType dtype, const Site& site) {
  check_whole("scalar", number, dtype, site);
  if (!range_of(dtype).contains(number.as_whole())) fail_range("scalar", number, dtype, site);
  return number;
}

}  // namespace client
}  // namespace burn
