#include "ir/ops/axes.h"

#include <algorithm>

#include "ir/enums.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {
namespace {

// Max and min of bools are "any" and "all"; sums of them need a cast.
Status check_reducible(std::string_view op, ReduceFn fn, const TensorType& x) {
  const bool orders = fn == ReduceFn::max || fn == ReduceFn::min;
  if (!is_bool(x.dtype) || orders) return {};
  return fail("{}: {} takes numbers, got {}", op, name(fn), to_string(x));
}

// An empty axis has no extreme element.
Status check_not_empty(std::string_view op, std::int64_t axis, const TensorType& x) {
  if (x.shape[static_cast<int>(axis)] > 0) return {};
  return fail("{}: axis {} of {} has no elements to choose from", op, axis, to_string(x));
}

}  // namespace

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

Result<TypeList> infer(const TopK& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_axis(op.kName, op.axis, *in[0]));
  TensorType values = *in[0];
  auto& size = values.shape[static_cast<int>(op.axis)];
  if (op.k < 0 || op.k > size)
    return fail("top_k: {} of the {} elements along axis {} of {}", op.k, size, op.axis, to_string(*in[0]));
  size = op.k;
  return types_of(values, TensorType{DType::i64, values.shape});
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

Result<TensorType> infer(const Nms& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  const auto& boxes = *in[0];
  const int rank = boxes.shape.rank();
  if (!is_floating(boxes.dtype) || rank < 2 || boxes.shape[rank - 1] != 4)
    return fail("nms: takes boxes of floats [..., n, 4], got {}", to_string(boxes));
  if (!(op.iou_threshold >= 0 && op.iou_threshold <= 1))
    return fail("nms: iou_threshold is {}, must be 0 to 1", op.iou_threshold);
  Shape shape;
  for (int d = 0; d < rank - 1; ++d) shape.push_back(boxes.shape[d]);
  return checked(op.kName, DType::bool_, shape);
}

}  // namespace burn::ir::shape_rules
