#include <array>

#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/integer_scalar.h"

namespace burn::client {
namespace {

// An empty operand has no dtype or shape to inspect; apply() reports it.
template <typename... Values>
bool is_any_empty(const Values&... values) {
  return (!values.has_value() || ...);
}

// The common shape of two operands of equal rank. A rank-0 operand (a scalar) is used for every element, and is not
// expanded.
ir::Shape broadcast_shape(std::string_view op, const Value& a, const Value& b, const Site& site) {
  const auto complain = [&] {
    fail(std::string{op} + ": shapes do not broadcast: lhs " + ir::to_string(a.type()) + ", rhs " +
             ir::to_string(b.type()),
         site);
  };
  if (a.rank() != b.rank()) complain();
  ir::Shape shape = a.shape();
  for (int i = 0; i < shape.rank(); ++i) {
    if (a.shape()[i] == b.shape()[i]) continue;
    if (a.shape()[i] == 1) {
      shape[i] = b.shape()[i];
    } else if (b.shape()[i] != 1) {
      complain();
    }
  }
  return shape;
}

// `x` itself if it has the shape, else its expansion, which is stored in `room`.
const Value& expand_to(const Value& x, const ir::Shape& shape, Value& room, const Site& site) {
  if (x.rank() == 0 || x.shape() == shape) return x;
  room = expand(x, shape, site);
  return room;
}

// The comparison of (b, a) that is equivalent to fn of (a, b).
ir::PointwiseFn mirrored(ir::PointwiseFn fn) {
  switch (fn) {
    case ir::PointwiseFn::lower:
      return ir::PointwiseFn::greater;
    case ir::PointwiseFn::lower_equal:
      return ir::PointwiseFn::greater_equal;
    case ir::PointwiseFn::greater:
      return ir::PointwiseFn::lower;
    case ir::PointwiseFn::greater_equal:
      return ir::PointwiseFn::lower_equal;
    default:
      return fn;
  }
}

// The max or min of integers and an argument of a captured step, whose value is not known when the program is recorded:
// the program rounds it to a whole number. Comparisons with such arguments are computed in floats.
Value bounded(ir::PointwiseFn fn, const Value& x, const Scalar& bound, const Site& site) {
  const bool is_lower = fn == ir::PointwiseFn::max;
  const Value number = scalar(place_of(x), bound, ir::DType::f64, site);
  const Value is_beyond = pointwise(is_lower ? ir::PointwiseFn::lower : ir::PointwiseFn::greater,
                                    cast(x, ir::DType::f64, site), number, site);
  const Value whole = pointwise(is_lower ? ir::PointwiseFn::ceil : ir::PointwiseFn::floor, number, site);
  return select(is_beyond, cast(whole, x.dtype(), site), x, site);
}

}  // namespace

Value pointwise(ir::PointwiseFn fn, const Value& x, const Site& site) { return apply(ir::Pointwise{fn}, x, site); }

Value pointwise(ir::PointwiseFn fn, const Value& a, const Value& b, const Site& site) {
  if (is_any_empty(a, b)) return apply(ir::Pointwise{fn}, a, b, site);
  if (const auto wide = common_dtype(a.dtype(), b.dtype())) [[unlikely]] {
    return pointwise(fn, cast(a, *wide, site), cast(b, *wide, site), site);
  }
  if (a.rank() == 0 || b.rank() == 0 || a.shape() == b.shape()) return apply(ir::Pointwise{fn}, a, b, site);
  const auto shape = broadcast_shape(ir::name(fn), a, b, site);
  Value room_a, room_b;
  const Value& lhs = expand_to(a, shape, room_a, site);
  const Value& rhs = expand_to(b, shape, room_b, site);
  return apply(ir::Pointwise{fn}, lhs, rhs, site);
}

Value pointwise(ir::PointwiseFn fn, const Value& a, Scalar b, const Site& site) {
  if (is_any_empty(a)) return apply(ir::Pointwise{fn}, a, site);
  if (ir::is_integer(a.dtype())) {
    if (b.source() == 0) {
      const auto [same_fn, number] = with_integers(fn, b, a.dtype(), site);
      return apply(ir::Pointwise{same_fn}, a, scalar(place_of(a), number, a.dtype(), site), site);
    }
    if (ir::row(fn).kind == ir::PointwiseClass::compare) return pointwise(fn, cast(a, ir::DType::f64, site), b, site);
    if (fn == ir::PointwiseFn::max || fn == ir::PointwiseFn::min) return bounded(fn, a, b, site);
  }
  return apply(ir::Pointwise{fn}, a, scalar(place_of(a), b, a.dtype(), site), site);
}

Value pointwise(ir::PointwiseFn fn, Scalar a, const Value& b, const Site& site) {
  if (is_any_empty(b)) return apply(ir::Pointwise{fn}, b, site);
  if (ir::is_integer(b.dtype())) {
    if (ir::row(fn).kind == ir::PointwiseClass::compare) return pointwise(mirrored(fn), b, a, site);
    if (a.source() == 0) a = with_integers(fn, a, b.dtype(), site).number;
  }
  return apply(ir::Pointwise{fn}, scalar(place_of(b), a, b.dtype(), site), b, site);
}

Value select(const Value& condition, const Value& a, const Value& b, const Site& site) {
  if (is_any_empty(condition, a, b)) return apply(ir::Pointwise{ir::PointwiseFn::select}, condition, a, b, site);
  if (const auto wide = common_dtype(a.dtype(), b.dtype())) [[unlikely]] {
    return select(condition, cast(a, *wide, site), cast(b, *wide, site), site);
  }
  ir::Shape shape = condition.shape();
  for (const Value* operand : {&a, &b}) {
    if (operand->rank() == 0 || operand->shape() == shape) continue;
    shape = condition.rank() == 0 ? operand->shape() : broadcast_shape("select", condition, *operand, site);
  }
  Value rooms[3];
  const Value& c = expand_to(condition, shape, rooms[0], site);
  const Value& x = expand_to(a, shape, rooms[1], site);
  const Value& y = expand_to(b, shape, rooms[2], site);
  return apply(ir::Pointwise{ir::PointwiseFn::select}, c, x, y, site);
}

Value cast(const Value& x, ir::DType dtype, const Site& site) {
  fail_if_empty(x, "cast", site);
  return x.dtype() == dtype ? x : apply(ir::Cast{dtype}, x, site);
}

}  // namespace burn::client
