// An op of a program: one of the structs of ops.h. Each function on it visits the variant once, in one .cc file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/small_array.h"
#include "base/status.h"
#include "ir/ops.h"

namespace burn::ir {

namespace detail {
template <typename First, typename... Rest>
struct OpList {
  using type = std::variant<Rest...>;
};  // First only absorbs the leading comma of the list
}  // namespace detail

using Op = detail::OpList<void
#define OP(type) , type
                              BURN_OPS(OP)
#undef OP
                          >::type;

// For a Pointwise its function's name ("exp"), otherwise the op's own ("reduce").
std::string_view name(const Op& op);

// Types of an op's results. Nearly always one, which is stored without an allocation.
using TypeList = SmallArray<TensorType, 1>;

// Returns the types of the results. Errors: INVALID_ARGUMENT with the shapes if the operands do not fit.
Result<TypeList> infer(const Op& op, std::span<const TensorType* const> operands);

int result_count(const Op& op);
bool has_effect(const Op& op);
// Whether the members of a group perform it together (ir/ops/collectives.h).
bool is_collective(const Op& op);
// Whether it may fail depending on its operands' values: an index outside its axis, a singular matrix.
bool may_fail(const Op& op);

// The most results that an op may have.
inline constexpr int kMaxResults = 4;
#define OP(type) static_assert(result_count<type>() >= 1 && result_count<type>() <= kMaxResults, #type);
BURN_OPS(OP)
#undef OP

// "reduce(fn=sum, axes=[0, 1])"
std::string to_string(const Op& op);

}  // namespace burn::ir
