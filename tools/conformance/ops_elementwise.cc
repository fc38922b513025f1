#include <numbers>

#include "client/ops/activation.h"
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
      client::pointwise(Fn::bool_and, client::pointwise(Fn::lower_equal, distance, bound, kSite), is_finite(y), kSite);
  return client::pointwise(Fn::bool_or, near, client::pointwise(Fn::equal, x, y, kSite), kSite);
}

}  // namespace

void add_elementwise(OpTable& t) {
  for (int i = 0; i < ir::pointwise_count(); ++i) {
    const auto fn = static_cast<Fn>(i);
    const auto& row = ir::row(fn);
    const std::string method{row.method};
    if (row.arity == 1) t[method] = unary(fn);
    if (row.arity == 2) t[method] = binary(fn), t[method + "_scalar"] = with_scalar(fn);
  }
  t["powf"] = binary(Fn::pow);
  t["powf_scalar"] = with_scalar(Fn::pow);
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
