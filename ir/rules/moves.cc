#include "ir/ops/moves.h"

#include "ir/enums.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {
namespace {

// Indices start, start + step, ... (size of them) of a dim stay inside it; nothing overflows, not even where size is 0.
bool slice_fits(std::int64_t dim, std::int64_t start, std::int64_t size, std::int64_t step) {
  if (step == 0 || start < 0 || size < 0 || start > dim) return false;
  if (size == 0) return true;
  std::int64_t last = 0;
  if (__builtin_mul_overflow(size - 1, step, &last) || __builtin_add_overflow(start, last, &last)) return false;
  return start < dim && last >= 0 && last < dim;
}

// Executors multiply steps by strides, even if there are fewer than two elements and the step has no effect.
bool step_fits(const TensorType& x, std::int64_t step) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 62;
  std::int64_t elements = 1;
  for (const auto size : x.shape) elements *= size > 0 ? size : 1;
  return step <= kLimit / elements && step >= -(kLimit / elements);
}

Status check_slice(std::string_view op, const TensorType& x, const Dims& starts, const Dims& sizes, const Dims& steps) {
  const int rank = x.shape.rank();
  if (starts.rank() != rank || sizes.rank() != rank || steps.rank() != rank) {
    return fail("{}: starts {}, sizes {} and steps {} must have one entry per dim of {}", op, to_string(starts),
                to_string(sizes), to_string(steps), to_string(x));
  }
  for (int i = 0; i < rank; ++i) {
    if (!slice_fits(x.shape[i], starts[i], sizes[i], steps[i]) || !step_fits(x, steps[i])) {
      return fail("{}: start {}, size {}, step {} do not fit dim {} of {}", op, starts[i], sizes[i], steps[i], i,
                  to_string(x));
    }
  }
  return {};
}

// An index has x's rank, and its sizes except along axis.
Status check_index(std::string_view op, std::int64_t axis, const TensorType& x, const TensorType& index) {
  BURN_RETURN_IF_ERROR(check_axis(op, axis, x));
  if (index.dtype != DType::i32 && index.dtype != DType::i64) {
    return fail("{}: the index must be i32 or i64, got {}", op, to_string(index));
  }
  bool fits = index.shape.rank() == x.shape.rank();
  for (int i = 0; fits && i < x.shape.rank(); ++i) fits = i == axis || index.shape[i] == x.shape[i];
  if (fits) return {};
  return fail("{}: index {} must have the sizes of {} except along axis {}", op, to_string(index), to_string(x), axis);
}

}  // namespace

Result<TensorType> infer(const Reshape& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_TRY(const TensorType result, checked(op.kName, in[0]->dtype, op.shape));
  const auto from = in[0]->num_elements(), to = result.num_elements();
  if (from == to) return result;
  return fail("reshape: {} to {} changes the number of elements ({} and {})", to_string(*in[0]), to_string(op.shape),
              from, to);
}

Result<TensorType> infer(const Permute& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  bool fits = op.axes.rank() == x.shape.rank();
  for (int i = 0; fits && i < x.shape.rank(); ++i) fits = op.axes.contains(i);  // so each occurs once
  if (!fits) return fail("permute: {} is no order of the axes of {}", to_string(op.axes), to_string(x));
  TensorType result = x;
  for (int i = 0; i < x.shape.rank(); ++i) result.shape[i] = x.shape[static_cast<int>(op.axes[i])];
  return result;
}

Result<TensorType> infer(const Expand& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& x = *in[0];
  const int added = op.shape.rank() - x.shape.rank();
  bool fits = added >= 0;
  for (int i = 0; fits && i < x.shape.rank(); ++i) {
    fits = x.shape[i] == 1 || x.shape[i] == op.shape[added + i];
  }
  if (!fits) return fail("expand: {} does not repeat up to {}", to_string(x), to_string(op.shape));
  return checked(op.kName, x.dtype, op.shape);
}

Result<TensorType> infer(const Slice& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_slice(op.kName, *in[0], op.starts, op.sizes, op.steps));
  return checked(op.kName, in[0]->dtype, op.sizes);
}

Result<TensorType> infer(const SliceAssign& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 2));
  const auto &x = *in[0], &values = *in[1];
  if (x.dtype != values.dtype) {
    return fail("slice_assign: dtypes differ: {} and {}", to_string(x), to_string(values));
  }
  BURN_RETURN_IF_ERROR(check_slice(op.kName, x, op.starts, values.shape, op.steps));
  return x;
}

Result<TensorType> infer(const Concat& op, Operands in) {
  if (in.empty()) return fail("concat: takes 1 or more operands, got 0");
  BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axis, *in[0]));
  const int axis = static_cast<int>(op.axis);
  TensorType result = *in[0];
  for (const auto* x : in.subspan(1)) {
    bool fits = x->dtype == result.dtype && x->shape.rank() == result.shape.rank();
    for (int i = 0; fits && i < x->shape.rank(); ++i) fits = i == axis || x->shape[i] == result.shape[i];
    if (!fits) {
      return fail("concat: {} does not fit {} along axis {}", to_string(*x), to_string(*in[0]), axis);
    }
    result.shape[axis] += x->shape[axis];  // both below 2^59: no overflow before the check
    BURN_TRY(result, checked(op.kName, result.dtype, result.shape));
  }
  return result;
}

Result<TensorType> infer(const Gather& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 2));
  BURN_RETURN_IF_ERROR(check_index(op.kName, op.axis, *in[0], *in[1]));
  return checked(op.kName, in[0]->dtype, in[1]->shape);
}

Result<TensorType> infer(const Scatter& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 3));
  const auto &x = *in[0], &index = *in[1], &values = *in[2];
  BURN_RETURN_IF_ERROR(check_index(op.kName, op.axis, x, index));
  if (values.dtype != x.dtype || values.shape != index.shape) {
    return fail("scatter: values {} must have the dtype of {} and the sizes of the index {}", to_string(values),
                to_string(x), to_string(index));
  }
  const bool computes = op.fn == ScatterFn::add || op.fn == ScatterFn::mul;
  if (computes && is_bool(x.dtype)) return fail("scatter: {} takes numbers, got {}", name(op.fn), to_string(x));
  return x;
}

Result<TensorType> infer(const Place& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axis, *in[0]));
  return *in[0];
}

}  // namespace burn::ir::shape_rules
