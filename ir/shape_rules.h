// One shape rule per op, and their shared checks. For the .cc files of ir/ only; other code calls ir::infer.
//
// Rules trust no attribute or operand count, as these may be received from a peer. Executors may rely on what the rules
// check: axes are in range, slices in bounds, windows fit, sizes are below 2^59 elements.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include "base/status.h"
#include "ir/program.h"

namespace burn::ir::shape_rules {

using Operands = std::span<const TensorType* const>;

// The return type of a rule: one type for ops with one result, otherwise a list.
template <typename Kind>
using Inferred = std::conditional_t<result_count<Kind>() == 1, Result<TensorType>, Result<TypeList>>;

#define OP(type) Inferred<type> infer(const type& op, Operands in);
BURN_OPS(OP)
#undef OP

template <typename... Args>
Status fail(fmt::format_string<Args...> format, Args&&... args) {
  return invalid_argument(fmt::format(format, std::forward<Args>(args)...));
}

// "f32[2, 3], bool[3]"
std::string types_text(Operands in);

Status wrong_operand_count(std::string_view op, Operands in, std::size_t count);
// Inline, as it is called for every node that is recorded.
inline Status check_operands(std::string_view op, Operands in, std::size_t count) {
  if (in.size() == count) [[likely]]
    return {};
  return wrong_operand_count(op, in, count);
}

// Checks that 0 <= axis < x's rank.
Status check_axis(std::string_view op, std::int64_t axis, const TensorType& x);

// The types of an op with several results.
template <typename... Types>
TypeList types_of(const Types&... types) {
  TypeList list{sizeof...(Types)};
  std::size_t i = 0;
  ((list[i++] = types), ...);
  return list;
}

// Returns the type. Errors: INVALID_ARGUMENT if its byte offsets would not fit 64 bits.
Result<TensorType> checked(std::string_view op, DType dtype, const Shape& shape);

}  // namespace burn::ir::shape_rules
