// An op of a program: one of the structs of ops.h. Passes are functions over it, each visiting once in one .cc file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

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
#include "ir/ops.def"
#undef OP
                          >::type;

// "pointwise" ops answer with their function's name ("exp"), the others with their own ("reduce").
std::string_view name(const Op& op);

// The type of the result, or why the operands do not fit: a sentence with the shapes in it.
Result<TensorType> infer(const Op& op, std::span<const TensorType* const> operands);

// "reduce(fn=sum, axes=[0, 1])"
std::string to_string(const Op& op);

}  // namespace burn::ir
