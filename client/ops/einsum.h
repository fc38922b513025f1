// Einstein summation: products of tensors, summed over the labels that the result does not name.
#pragma once

#include <span>
#include <string_view>

#include "client/ops/ops.h"

namespace burn::client {

// "bij,bjk->bik": a letter names a dim of each operand; those that are missing behind the arrow are summed. Without an
// arrow, the letters that occur once, in alphabetical order. "..." stands for leading dims, which broadcast. A letter
// twice in one operand is its diagonal. Of operands, the pair with the smallest product is multiplied first, by a
// matrix product where something is summed. No labels behind the arrow: [1].
Value einsum(std::string_view equation, std::span<const Value> operands, const Site& site);

}  // namespace burn::client
