// An op of a program: one of the structs of ops.h. Passes are functions over it, each visiting once in one .cc file.
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

// "pointwise" ops answer with their function's name ("exp"), the others with their own ("reduce").
std::string_view name(const Op& op);

// What an op gives: nearly always one type, which is stored without allocating.
using TypeList = SmallArray<TensorType, 1>;

// The types of the results, or why the operands do not fit: a sentence with the shapes in it.
Result<TypeList> infer(const Op& op, std::span<const TensorType* const> operands);

int result_count(const Op& op);
bool has_effect(const Op& op);
// Whether the members of a group perform it together (ir/ops/collectives.h).
bool is_collective(const Op& op);
// Whether it may fail by the numbers that it is given: an index outside its axis, a matrix without an answer.
bool may_fail(const Op& op);

// Results that an op may have at most.
inline constexpr int kMaxResults = 4;
#define OP(type) static_assert(result_count<type>() >= 1 && result_count<type>() <= kMaxResults, #type);
BURN_OPS(OP)
#undef OP

// "reduce(fn=sum, axes=[0, 1])"
std::string to_string(const Op& op);

}  // namespace burn::ir
