#include "ir/ops/fourier.h"

#include "ir/factors.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {
namespace {

Status check_signal(std::string_view op, const TensorType& x) {
  if (x.dtype == DType::f32 || x.dtype == DType::f64) return {};
  return fail("{}: takes f32 or f64, got {}", op, to_string(x));
}

Status check_parts(std::string_view op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op, in, 2));
  BURN_RETURN_IF_ERROR(check_signal(op, *in[0]));
  if (*in[0] == *in[1]) return {};
  return fail("{}: real parts {} and imaginary parts {} differ", op, to_string(*in[0]), to_string(*in[1]));
}

}  // namespace

Result<TypeList> infer(const Fft& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_parts(op.kName, in));
  BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axis, *in[0]));
  return types_of(*in[0], *in[0]);
}

Result<TypeList> infer(const RealFft& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_signal(op.kName, *in[0]));
  BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axis, *in[0]));
  Shape shape = in[0]->shape;
  auto& size = shape[static_cast<int>(op.axis)];
  if (size == 0) return fail("{}: axis {} of {} is empty", op.kName, op.axis, to_string(*in[0]));
  size = size / 2 + 1;
  BURN_TRY(const auto half, checked(op.kName, in[0]->dtype, shape));
  return types_of(half, half);
}

Result<TensorType> infer(const InverseRealFft& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_parts(op.kName, in));
  BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axis, *in[0]));
  Shape shape = in[0]->shape;
  auto& size = shape[static_cast<int>(op.axis)];
  if (op.length < 1 || size != op.length / 2 + 1) {
    return fail("{}: {} real numbers along axis {} have {} in their spectrum's first half, got {}", op.kName, op.length,
                op.axis, op.length < 1 ? 0 : op.length / 2 + 1, to_string(*in[0]));
  }
  size = op.length;
  return checked(op.kName, in[0]->dtype, shape);
}

}  // namespace burn::ir::shape_rules

namespace burn::ir::factor_rules {

std::string_view text(const Fft&) { return "axis is whole, other dims map"; }
Factors factors(const Fft& op, Types operands, Types results) {
  return along(op.axis, operands, results, {linear_in({0, 1})});
}

std::string_view text(const RealFft&) { return "axis is whole, other dims map"; }
Factors factors(const RealFft& op, Types operands, Types results) {
  return along(op.axis, operands, results, {linear_in({0})});
}

std::string_view text(const InverseRealFft&) { return "axis is whole, other dims map"; }
Factors factors(const InverseRealFft& op, Types operands, Types results) {
  return along(op.axis, operands, results, {linear_in({0, 1})});
}

}  // namespace burn::ir::factor_rules
