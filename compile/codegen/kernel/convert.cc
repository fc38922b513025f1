#include "compile/codegen/kernel/convert.h"

#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {
namespace {

using enum ir::DType;

Value float_of_half(Value raw) {
  if (const auto own = call_own(Function::from_f16, raw)) return *own;
  const Value bits = to(u32, raw), magnitude = bits & 0x7fff;
  // Subnormals are whole multiples of 2^-24; a device that has no subnormal f32 still has these.
  const Value subnormal = to(f32, magnitude) * 0x1p-24F;
  const Value normal = bits_as(f32, (magnitude << 13) + 0x38000000);  // the exponent's bias is 127 instead of 15
  const Value not_finite = bits_as(f32, (magnitude << 13) | 0x7f800000);
  const Value positive = select(magnitude < 0x400, subnormal, select(magnitude < 0x7c00, normal, not_finite));
  return bits_as(f32, bits_as(u32, positive) | ((bits & 0x8000) << 16));
}

// To nearest even, by whole numbers alone: what a device's own conversion rounds to is its own business.
Value half_of_float(Value x) {
  if (const auto own = call_own(Function::to_f16, x)) return *own;
  const Value bits = bits_as(u32, x), magnitude = bits & 0x7fffffff;
  const Value odd = (magnitude >> 13) & 1;
  const Value normal = (magnitude + 0xfff + odd - 0x38000000) >> 13;  // carries into the exponent, up to infinity
  // Below 2^-14: a multiple of 2^-24. The shift is that of the mantissa with its leading one; beyond 31 nothing is
  // left.
  const Value exponent = magnitude >> 23;
  const Value shift = select(exponent < 96, exponent.number(31), (exponent.number(126) - exponent) & 31);
  const Value mantissa = (magnitude & 0x7fffff) | 0x800000;
  const Value kept = mantissa >> shift, rest = mantissa - (kept << shift);
  const Value middle = shift.number(1) << ((shift - 1) & 31);
  const Value up = (middle < rest) || (rest == middle && (kept & 1) != 0);
  const Value subnormal = kept + select(up, kept.number(1), kept.number(0));
  const Value finite =
      select(magnitude < 0x38800000, subnormal, select(magnitude < 0x477ff000, normal, normal.number(0x7c00)));
  const Value quiet = ((magnitude >> 13) & 0x3ff) | 0x7e00;
  const Value result = select(magnitude > 0x7f800000, quiet, finite) | ((bits >> 16) & 0x8000);
  return to(u16, result);
}

Value float_of_bfloat(Value raw) {
  if (const auto own = call_own(Function::from_bf16, raw)) return *own;
  return bits_as(f32, to(u32, raw) << 16);
}

Value bfloat_of_float(Value x) {
  if (const auto own = call_own(Function::to_bf16, x)) return *own;
  const Value bits = bits_as(u32, x);
  const Value nearest = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return to(u16, select((bits & 0x7fffffff) > 0x7f800000, (bits >> 16) | 0x40, nearest));
}

// Toward zero, saturating; NaN gives 0.
Value saturate(ir::DType dtype, Value x) {
  const int width = bits_of(dtype) - (is_signed(dtype) ? 1 : 0);
  const double beyond = width == 64 ? 0x1p64 : static_cast<double>(std::uint64_t{1} << width);
  const double lowest = is_signed(dtype) ? -beyond : 0;
  const std::uint64_t greatest = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const Value zero = x.like(0.0), is_above = x >= beyond, is_below = x <= lowest;
  const Value fits = select(is_above || is_below || is_nan(x), zero, x);
  const Value whole = to(dtype, fits);
  const Value most = whole.like(static_cast<std::int64_t>(greatest));
  const Value least = whole.like(is_signed(dtype) ? static_cast<std::int64_t>(~greatest) : std::int64_t{0});
  return select(is_above, most, select(is_below, least, whole));
}

Value number_of_bool(ir::DType type, Value value) {
  auto& writer = *value.writer;
  return select(value, writer.constant(type, std::int64_t{1}), writer.constant(type, std::int64_t{0}));
}

}  // namespace

Value is_nan(Value x) { return x != x; }  // NOLINT(misc-redundant-expression): true of NaN alone

Value from_memory(ir::DType dtype, Value raw) {
  if (dtype == bool_) return raw != 0;
  if (dtype == f16) return float_of_half(raw);
  return dtype == bf16 ? float_of_bfloat(raw) : raw;
}

Value to_memory(ir::DType dtype, Value value) {
  if (dtype == bool_) return number_of_bool(u8, value);
  if (dtype == f16) return half_of_float(value);
  return dtype == bf16 ? bfloat_of_float(value) : value;
}

Value cast(ir::DType dtype, Value value) {
  const auto type = ir::compute_dtype(dtype);
  if (value.type == type) return value;
  if (type == bool_) return value != 0;
  if (value.type == bool_) return number_of_bool(type, value);
  if (ir::is_floating(value.type) && ir::is_integer(type)) return saturate(type, value);
  return to(type, value);
}

Value rounded(ir::DType dtype, Value value) {
  if (dtype == f16 || dtype == bf16) return from_memory(dtype, to_memory(dtype, value));
  return value;
}

}  // namespace burn::compile::kernel
