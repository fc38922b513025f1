#include "ir/ops/elements.h"

#include <algorithm>
#include <bit>

#include "ir/enums.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {
namespace {

// Checks that the box of a Random is within the whole value.
Status check_box(const Random& op, const Shape& whole) {
  const auto no_box = [&] {
    return fail("random: {} from {} is no box of {}", to_string(op.shape), to_string(op.starts), to_string(whole));
  };
  if (op.shape.rank() != whole.rank() || op.starts.rank() != whole.rank()) return no_box();
  for (int i = 0; i < whole.rank(); ++i) {
    if (op.starts[i] < 0 || op.shape[i] < 0 || op.starts[i] > whole[i] || op.shape[i] > whole[i] - op.starts[i])
      return no_box();
  }
  return {};
}

struct PointwiseDTypes {
  bool fits;
  DType result;
};

PointwiseDTypes pointwise_dtypes(PointwiseClass kind, Operands in) {
  const DType first = in.front()->dtype, last = in.back()->dtype;
  const bool same = std::all_of(in.begin(), in.end(), [&](const auto* x) { return x->dtype == first; });
  switch (kind) {
    case PointwiseClass::numeric:
      return {same && !is_bool(first), first};
    case PointwiseClass::floating:
      return {same && is_floating(first), first};
    case PointwiseClass::integral:
      return {same && is_integer(first), first};
    case PointwiseClass::logical:
      return {same && is_bool(first), first};
    case PointwiseClass::compare:
      return {same, DType::bool_};
    case PointwiseClass::test:
      return {same && is_floating(first), DType::bool_};
    case PointwiseClass::choose:
      return {is_bool(first) && in[1]->dtype == last, last};
  }
  return {false, first};
}

std::string_view wanted_dtypes(PointwiseClass kind) {
  switch (kind) {
    case PointwiseClass::numeric:
      return "numbers of one dtype";
    case PointwiseClass::floating:
      return "floats of one dtype";
    case PointwiseClass::integral:
      return "whole numbers of one dtype";
    case PointwiseClass::logical:
      return "bools";
    case PointwiseClass::compare:
      return "operands of one dtype";
    case PointwiseClass::test:
      return "floats";
    case PointwiseClass::choose:
      return "a bool and two operands of one dtype";
  }
  return "nothing";
}

}  // namespace

Result<TensorType> infer(const Constant& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 0));
  if (is_bool(op.dtype) && op.number != 0 && op.number != 1) return fail("constant: {} is no bool", op.number);
  const bool is_real = is_floating(op.dtype);
  if (is_real ? op.number != 0 : std::bit_cast<std::uint64_t>(op.real) != 0) {
    return fail("constant: {} is {}", name(op.dtype), is_real ? "no float's number" : "no whole number's real");
  }
  return TensorType{op.dtype, {}};
}

Result<TensorType> infer(const Scalar& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 0));
  if (op.slot < 0) return fail("scalar: slot {} is negative", op.slot);
  return TensorType{op.dtype, {}};
}

Result<TensorType> infer(const Iota& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 0));
  if (is_bool(op.dtype)) return fail("iota: counts numbers, not bools");
  return checked(op.kName, op.dtype, {op.size});
}

Result<TensorType> infer(const Random& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 0));
  const bool draws_bits = op.fn == RandomFn::bits;
  if (draws_bits != (op.dtype == DType::u64) || compute_dtype(op.dtype) != op.dtype ||
      (!draws_bits && !is_floating(op.dtype))) {
    return fail("random: {} gives {}, not {}", name(op.fn), draws_bits ? "u64" : "f32 or f64", name(op.dtype));
  }
  if (op.offset < 0) return fail("random: offset {} is negative", op.offset);
  BURN_TRY(const TensorType whole, checked(op.kName, op.dtype, op.whole_shape()));
  if (!op.whole.empty() || !op.starts.empty()) BURN_RETURN_IF_ERROR(check_box(op, whole.shape));
  return checked(op.kName, op.dtype, op.shape);
}

Result<TensorType> infer(const Pointwise& op, Operands in) {
  const auto& about = row(op.fn);
  BURN_RETURN_IF_ERROR(check_operands(about.name, in, static_cast<std::size_t>(about.arity)));
  const auto dtypes = pointwise_dtypes(about.kind, in);
  if (!dtypes.fits) [[unlikely]]
    return fail("{}: takes {}, got {}", about.name, wanted_dtypes(about.kind), types_text(in));

  const TensorType* shaped = in.front();  // the first operand that is not a rank-0 stand-in for every element
  for (const auto* x : in) {
    if (shaped->shape.empty()) shaped = x;
    if (!x->shape.empty() && x->shape != shaped->shape) {
      return fail("{}: shapes differ: {}", about.name, types_text(in));
    }
  }
  return TensorType{dtypes.result, shaped->shape};
}

Result<TensorType> infer(const Cast& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  return TensorType{op.dtype, in[0]->shape};
}

}  // namespace burn::ir::shape_rules
