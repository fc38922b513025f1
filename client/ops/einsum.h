// Einstein summation: products of tensors, summed over the labels that the result does not name.
#pragma once

#include <span>
#include <string_view>

#include "client/ops/ops.h"

namespace burn::client {

// "bij,bjk->bik": a letter names a dim of each operand; letters that are missing after the arrow are summed over.
// Without an arrow, the result has the letters that occur once, in alphabetical order. "..." stands for leading dims,
// which broadcast. A letter that occurs twice in one operand takes its diagonal. The pair of operands with the smallest
// product is multiplied first, by a matrix product if a dim is summed over. No labels after the arrow: the result is
// [1].
Value einsum(std::string_view equation, std::span<const Value> operands, const Site& site);

}  // namespace burn::client
