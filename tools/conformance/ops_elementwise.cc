#include <numbers>

#include "client/activation.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

Value times(const Value& x, double factor) { return client::pointwise(Fn::mul, x, factor, kSite); }

OpFunction unary(Fn fn) {
  return [fn](const Call& c) { return std::vector{client::pointwise(fn, c.x(), kSite)}; };
}
OpFunction binary(Fn fn) {
  return [fn](const Call& c) { return std::vector{client::pointwise(fn, c.x(0), c.x(1), kSite)}; };
}
OpFunction with_scalar(Fn fn, const char* name = "scalar") {
  return [fn, name](const Call& c) { return std::vector{client::pointwise(fn, c.x(), c.scalar(name), kSite)}; };
}
OpFunction scalar_first(Fn fn) {
  return [fn](const Call& c) { return std::vector{client::pointwise(fn, c.scalar("scalar"), c.x(), kSite)}; };
}
OpFunction all_of(bool any, bool by_dim) {
  const auto fn = any ? ir::ReduceFn::max : ir::ReduceFn::min;
  return [=](const Call& c) {
    const auto x = client::cast(c.x(), ir::DType::bool_, kSite);
    return std::vector{by_dim ? client::reduce(fn, x, {c.integer("dim")}, kSite) : client::reduce_all(fn, x, kSite)};
  };
}
OpFunction cast_to(ir::DType dtype) {
  return [dtype](const Call& c) { return std::vector{client::cast(c.x(), dtype, kSite)}; };
}

Value is_finite(const Value& x) {
  const auto strange = client::pointwise(Fn::bool_or, client::pointwise(Fn::is_nan, x, kSite),
                                         client::pointwise(Fn::is_inf, x, kSite), kSite);
  return client::pointwise(Fn::bool_not, strange, kSite);
}

// |x - y| <= atol + rtol |y|, or equal; NaN is close to nothing.
Value is_close(const Call& c) {
  const auto &x = c.x(0), &y = c.x(1);
  const auto distance = client::pointwise(Fn::abs, client::pointwise(Fn::sub, x, y, kSite), kSite);
  const auto bound = client::pointwise(Fn::add, times(client::pointwise(Fn::abs, y, kSite), c.number("rtol")),
                                       c.number("atol"), kSite);
  const auto near =
      client::pointwise(Fn::bool_and, client::pointwise(Fn::less_equal, distance, bound, kSite), is_finite(y), kSite);
  return client::pointwise(Fn::bool_or, near, client::pointwise(Fn::equal, x, y, kSite), kSite);
}

}  // namespace

void add_elementwise(OpTable& t) {
  for (const auto fn :
       {Fn::abs,   Fn::neg,    Fn::sign,   Fn::exp,      Fn::log,         Fn::log1p, Fn::sqrt,   Fn::recip,
        Fn::erf,   Fn::sin,    Fn::cos,    Fn::tan,      Fn::sinh,        Fn::cosh,  Fn::tanh,   Fn::asin,
        Fn::acos,  Fn::atan,   Fn::asinh,  Fn::acosh,    Fn::atanh,       Fn::floor, Fn::ceil,   Fn::round,
        Fn::trunc, Fn::is_nan, Fn::is_inf, Fn::bool_not, Fn::bitwise_not, Fn::relu,  Fn::sigmoid}) {
    t[std::string{ir::name(fn)}] = unary(fn);
  }
  for (const auto fn : {Fn::add,
                        Fn::sub,
                        Fn::mul,
                        Fn::div,
                        Fn::remainder,
                        Fn::fmod,
                        Fn::atan2,
                        Fn::hypot,
                        Fn::equal,
                        Fn::not_equal,
                        Fn::greater,
                        Fn::greater_equal,
                        Fn::bool_and,
                        Fn::bool_or,
                        Fn::bool_xor,
                        Fn::bitwise_and,
                        Fn::bitwise_or,
                        Fn::bitwise_xor,
                        Fn::bitwise_left_shift,
                        Fn::bitwise_right_shift}) {
    t[std::string{ir::name(fn)}] = binary(fn);
  }
  t["powf"] = t["powi"] = binary(Fn::pow);
  t["max_pair"] = binary(Fn::max);
  t["min_pair"] = binary(Fn::min);
  t["lower"] = binary(Fn::less);
  t["lower_equal"] = binary(Fn::less_equal);
  for (const auto fn : {Fn::add, Fn::sub, Fn::mul, Fn::div, Fn::remainder, Fn::fmod, Fn::equal, Fn::not_equal,
                        Fn::greater, Fn::greater_equal, Fn::bitwise_and, Fn::bitwise_or, Fn::bitwise_xor,
                        Fn::bitwise_left_shift, Fn::bitwise_right_shift}) {
    t[std::string{ir::name(fn)} + "_scalar"] = with_scalar(fn);
  }
  t["powf_scalar"] = t["powi_scalar"] = with_scalar(Fn::pow);
  t["lower_scalar"] = with_scalar(Fn::less);
  t["lower_equal_scalar"] = with_scalar(Fn::less_equal);
  t["scalar_sub"] = scalar_first(Fn::sub);
  t["scalar_div"] = scalar_first(Fn::div);
  t["clamp_min"] = with_scalar(Fn::max, "min");
  t["clamp_max"] = with_scalar(Fn::min, "max");
  t["clamp"] = [](const Call& c) {
    return std::vector{
        client::pointwise(Fn::min, client::pointwise(Fn::max, c.x(), c.scalar("min"), kSite), c.scalar("max"), kSite)};
  };
  t["square"] = [](const Call& c) { return std::vector{client::pointwise(Fn::mul, c.x(), c.x(), kSite)}; };
  t["deg2rad"] = [](const Call& c) { return std::vector{times(c.x(), std::numbers::pi / 180)}; };
  t["rad2deg"] = [](const Call& c) { return std::vector{times(c.x(), 180 / std::numbers::pi)}; };
  t["is_finite"] = [](const Call& c) { return std::vector{is_finite(c.x())}; };
  t["contains_nan"] = [](const Call& c) {
    return std::vector{client::reduce_all(ir::ReduceFn::max, client::pointwise(Fn::is_nan, c.x(), kSite), kSite)};
  };
  t["is_close"] = [](const Call& c) { return std::vector{is_close(c)}; };
  t["all_close"] = [](const Call& c) { return std::vector{client::reduce_all(ir::ReduceFn::min, is_close(c), kSite)}; };
  t["any"] = all_of(true, false);
  t["all"] = all_of(false, false);
  t["any_dim"] = all_of(true, true);
  t["all_dim"] = all_of(false, true);
  t["int"] = cast_to(ir::DType::i64);
  t["float"] = cast_to(ir::DType::f32);
  t["bool"] = cast_to(ir::DType::bool_);
  t["cast"] = [](const Call& c) {
    return std::vector{client::cast(c.x(), ir::parse_dtype(c.text("dtype")).value(), kSite)};
  };
}

}  // namespace burn::conformance
