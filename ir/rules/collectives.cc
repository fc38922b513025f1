#include "ir/ops/collectives.h"

#include <numeric>

#include "ir/enums.h"
#include "ir/factors.h"
#include "ir/shape_rules.h"

namespace burn::ir::shape_rules {
namespace {

Status check_group(std::string_view op, std::int64_t group) {
  if (group >= 0) return {};
  return fail("{}: there is no group {}", op, group);
}

// Checks that `sizes` are valid sizes of parts and `member` is the rank of one of them.
Status check_parts(std::string_view op, const Dims& sizes, std::int64_t member) {
  if (sizes.rank() == 0) return fail("{}: sizes of parts are missing", op);
  for (const auto size : sizes) {
    if (size < 0) return fail("{}: a part of the sizes {} has less than no elements", op, to_string(sizes));
  }
  if (member < 0 || member >= sizes.rank()) return fail("{}: there is no member {} of {}", op, member, sizes.rank());
  return {};
}

// The sum of the sizes. Errors: INVALID_ARGUMENT if it overflows 64 bits.
Result<std::int64_t> total(std::string_view op, const Dims& sizes) {
  std::int64_t sum = 0;
  for (const auto size : sizes) {
    if (__builtin_add_overflow(sum, size, &sum))
      return fail("{}: the sizes {} are too large together", op, to_string(sizes));
  }
  return sum;
}

// Checks that x has `size` elements along `dim`; `what` names the value in the message.
Status check_size(std::string_view op, const TensorType& x, std::int64_t dim, std::int64_t size,
                  std::string_view what) {
  BURN_RETURN_IF_ERROR(check_axis(op, dim, x));
  if (x.shape[static_cast<int>(dim)] == size) return {};
  return fail("{}: {} has {} elements along dim {}, got {}", op, what, size, dim, to_string(x));
}

// A bool has neither sum nor product: max is "any", min is "all".
Status check_combinable(std::string_view op, ReduceFn fn, const TensorType& x) {
  if (!is_bool(x.dtype) || fn == ReduceFn::max || fn == ReduceFn::min) return {};
  return fail("{}: {} takes numbers, got {}", op, name(fn), to_string(x));
}

Result<TensorType> with_size(std::string_view op, const TensorType& x, std::int64_t dim, std::int64_t size) {
  Shape shape = x.shape;
  shape[static_cast<int>(dim)] = size;
  return checked(op, x.dtype, shape);
}

}  // namespace

Result<TensorType> infer(const AllReduce& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_group(op.kName, op.group));
  BURN_RETURN_IF_ERROR(check_combinable(op.kName, op.fn, *in[0]));
  return *in[0];
}

Result<TensorType> infer(const ReduceScatter& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_group(op.kName, op.group));
  BURN_RETURN_IF_ERROR(check_combinable(op.kName, op.fn, *in[0]));
  BURN_RETURN_IF_ERROR(check_parts(op.kName, op.sizes, op.member));
  BURN_TRY(const auto size, total(op.kName, op.sizes));
  BURN_RETURN_IF_ERROR(check_size(op.kName, *in[0], op.dim, size, "the whole value"));
  return with_size(op.kName, *in[0], op.dim, op.sizes[static_cast<int>(op.member)]);
}

Result<TensorType> infer(const AllGather& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_group(op.kName, op.group));
  BURN_RETURN_IF_ERROR(check_parts(op.kName, op.sizes, op.member));
  BURN_TRY(const auto size, total(op.kName, op.sizes));
  BURN_RETURN_IF_ERROR(
      check_size(op.kName, *in[0], op.dim, op.sizes[static_cast<int>(op.member)], "the member's part"));
  return with_size(op.kName, *in[0], op.dim, size);
}

Result<TensorType> infer(const AllToAll& op, Operands in) {
  BURN_RETURN_IF_ERROR(check_operands(op.kName, in, 1));
  BURN_RETURN_IF_ERROR(check_group(op.kName, op.group));
  BURN_RETURN_IF_ERROR(check_parts(op.kName, op.from_sizes, op.member));
  BURN_RETURN_IF_ERROR(check_parts(op.kName, op.sizes, op.member));
  if (op.from_sizes.rank() != op.sizes.rank())
    return fail("all_to_all: {} members give and {} take", op.from_sizes.rank(), op.sizes.rank());
  BURN_TRY(const auto from, total(op.kName, op.from_sizes));
  BURN_TRY(const auto to, total(op.kName, op.sizes));
  BURN_RETURN_IF_ERROR(
      check_size(op.kName, *in[0], op.from, op.from_sizes[static_cast<int>(op.member)], "the member's part"));
  if (op.from == op.to) {
    if (from != to) return fail("all_to_all: parts of {} elements become parts of {}", from, to);
    return with_size(op.kName, *in[0], op.to, op.sizes[static_cast<int>(op.member)]);
  }
  BURN_RETURN_IF_ERROR(check_size(op.kName, *in[0], op.to, to, "the whole value"));
  BURN_TRY(const auto gathered, with_size(op.kName, *in[0], op.from, from));
  return with_size(op.kName, gathered, op.to, op.sizes[static_cast<int>(op.member)]);
}

}  // namespace burn::ir::shape_rules

namespace burn::ir::factor_rules {

// Programs with collectives are already split: each is one member's.
Factors factors(const AllReduce&, Types operands, Types results) { return all_whole(operands, results); }
std::string_view text(const AllReduce&) { return "!... -> !..."; }

Factors factors(const ReduceScatter&, Types operands, Types results) { return all_whole(operands, results); }
std::string_view text(const ReduceScatter&) { return "!... -> !..."; }

Factors factors(const AllGather&, Types operands, Types results) { return all_whole(operands, results); }
std::string_view text(const AllGather&) { return "!... -> !..."; }

Factors factors(const AllToAll&, Types operands, Types results) { return all_whole(operands, results); }
std::string_view text(const AllToAll&) { return "!... -> !..."; }

}  // namespace burn::ir::factor_rules
