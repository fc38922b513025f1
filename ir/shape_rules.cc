#include "ir/shape_rules.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "ir/enums.h"

namespace burn::ir {
namespace shape_rules {

// ---- The words all rules share

std::string types_text(Operands in) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(in.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + to_string(*in[i]);
  }
  return in.size() > kShown ? text + ", ..." : text;
}

Status check_operands(std::string_view op, Operands in, std::size_t count) {
  if (in.size() == count) return {};
  return fail("{}: takes {} operand{}, got {}", op, count, count == 1 ? "" : "s", in.size());
}

Status check_axis(std::string_view op, std::int64_t axis, const TensorType& x) {
  if (axis >= 0 && axis < x.shape.rank()) return {};
  return fail("{}: axis {} is out of range for {}", op, axis, to_string(x));
}

Result<TensorType> checked(std::string_view op, DType dtype, const Shape& shape) {
  if (checked_num_elements(shape)) return TensorType{dtype, shape};
  return fail("{}: {} is no shape: a size is negative or there are too many elements", op, to_string(shape));
}

namespace {

// Max and min of bools are "any" and "all"; sums of them need a cast.
Status check_reducible(std::string_view op, ReduceFn fn, const TensorType& x) {
  const bool orders = fn == ReduceFn::max || fn == ReduceFn::min;
  if (!is_bool(x.dtype) || orders) return {};
  return fail("{}: {} takes numbers, got {}", op, name(fn), to_string(x));
}

// Of no elements there is no largest.
Status check_not_empty(std::string_view op, std::int64_t axis, const TensorType& x) {
  if (x.shape[static_cast<int>(axis)] > 0) return {};
  return fail("{}: axis {} of {} has no elements to choose from", op, axis, to_string(x));
}

// The box of a Random lies in the whole.
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
  std::string_view wanted;
  bool fits;
  DType result;
};

PointwiseDTypes pointwise_dtypes(PointwiseClass kind, Operands in) {
  const DType first = in.front()->dtype, last = in.back()->dtype;
  const bool same = std::all_of(in.begin(), in.end(), [&](const auto* x) { return x->dtype == first; });
  switch (kind) {
    case PointwiseClass::numeric:
      return {"numbers of one dtype", same && !is_bool(first), first};
    case PointwiseClass::floating:
      return {"floats of one dtype", same && is_floating(first), first};
    case PointwiseClass::integral:
      return {"whole numbers of one dtype", same && is_integer(first), first};
    case PointwiseClass::logical:
      return {"bools", same && is_bool(first), first};
    case PointwiseClass::compare:
      return {"operands of one dtype", same, DType::bool_};
    case PointwiseClass::test:
      return {"floats", same && is_floating(first), DType::bool_};
    case PointwiseClass::choose:
      return {"a bool and two operands of one dtype", is_bool(first) && in[1]->dtype == last, last};
  }
  return {"nothing", false, first};
}

}  // namespace

// ---- Sources

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

// ---- Element by element

Result<TensorType> infer(const Pointwise& op, Operands in) {
  const auto& about = row(op.fn);
  BURN_RETURN_IF_ERROR(check_operands(about.name, in, static_cast<std::size_t>(about.arity)));
  const auto dtypes = pointwise_dtypes(about.kind, in);
  if (!dtypes.fits) return fail("{}: takes {}, got {}", about.name, dtypes.wanted, types_text(in));

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

// ---- Along axes

Result<TensorType> infer(const Reduce& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  BURN_RETURN_IF_ERROR(check_reducible(op.kName, op.fn, x));
  TensorType result = x;
  for (int i = 0; i < op.axes.rank(); ++i) {
    BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axes[i], x));
    if (i > 0 && op.axes[i] <= op.axes[i - 1]) {
      return fail("reduce: axes {} are not sorted and unique", to_string(op.axes));
    }
    result.shape[static_cast<int>(op.axes[i])] = 1;
  }
  const bool chooses = (op.fn == ReduceFn::max || op.fn == ReduceFn::min) && !is_bool(x.dtype);
  if (chooses && result.num_elements() > 0) {
    for (const auto axis : op.axes) BURN_RETURN_IF_ERROR(check_not_empty(op.kName, axis, x));
  }
  return checked(op.kName, result.dtype, result.shape);
}

Result<TensorType> infer(const ArgReduce& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axis, x));
  if (is_bool(x.dtype)) return fail("arg_reduce: takes numbers, got {}", to_string(x));
  Shape shape = x.shape;
  shape[static_cast<int>(op.axis)] = 1;
  if (num_elements(shape) > 0) BURN_RETURN_IF_ERROR(check_not_empty(op.kName, op.axis, x));
  return checked(op.kName, DType::i64, shape);
}

Result<TensorType> infer(const Scan& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axis, *in[0]));
  BURN_RETURN_IF_ERROR(check_reducible(op.kName, op.fn, *in[0]));
  return *in[0];
}

Result<TypeList> infer(const Sort& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axis, *in[0]));
  return types_of(*in[0], TensorType{DType::i64, in[0]->shape});
}

Result<TensorType> infer(const MatMul& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 2));
  const auto &lhs = *in[0], &rhs = *in[1];  // [..., m, k], [..., k, n]
  const auto differ = [&](std::string_view what) {
    return fail("matmul: {}: lhs {}, rhs {}", what, to_string(lhs), to_string(rhs));
  };
  if (lhs.dtype != rhs.dtype || is_bool(lhs.dtype)) return differ("takes numbers of one dtype");
  const int rank = lhs.shape.rank();
  if (rank != rhs.shape.rank()) return differ("ranks differ");
  if (rank < 2) return differ("takes matrices");
  if (!std::equal(lhs.shape.begin(), lhs.shape.end() - 2, rhs.shape.begin())) return differ("batch sizes differ");
  const auto k = lhs.shape[rank - 1], other_k = rhs.shape[rank - 2];
  if (k != other_k) {
    return fail("matmul: inner sizes differ: lhs {}, rhs {} ({} and {})", to_string(lhs), to_string(rhs), k, other_k);
  }
  Shape shape = lhs.shape;
  shape[rank - 1] = rhs.shape[rank - 1];
  return checked(op.kName, lhs.dtype, shape);  // [..., m, n]
}

}  // namespace shape_rules

Result<TypeList> infer(const Op& op, std::span<const TensorType* const> operands) {
  return std::visit(
      [&](const auto& kind) -> Result<TypeList> {
        // Qualified on purpose: a missing rule must not compile into this function calling itself.
        auto inferred = shape_rules::infer(kind, operands);
        if constexpr (result_count<std::remove_cvref_t<decltype(kind)>>() == 1) {
          if (!inferred.ok()) return inferred.status();
          return shape_rules::types_of(*inferred);
        } else {
          return inferred;
        }
      },
      op);
}

}  // namespace burn::ir
