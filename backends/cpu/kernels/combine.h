// The functions that combine two elements (ir/semantics/combine.h), under their short names.
#pragma once

#include <concepts>
#include <type_traits>

#include "ir/semantics/combine.h"

namespace burn::backends::cpu {

using ir::is_nan, ir::Sum, ir::Prod, ir::Max, ir::Min;

// A type in which Op gives the same bits as in T. Integers wrap around, so only comparisons depend on their sign: other
// loops are compiled for unsigned types only.
template <typename Op, typename T>
struct SameBits {
  using type = T;
};
template <typename Op, std::signed_integral T>
  requires(!std::same_as<Op, Max> && !std::same_as<Op, Min>)
struct SameBits<Op, T> {
  using type = std::make_unsigned_t<T>;
};
template <typename Op, typename T>
using same_bits_t = typename SameBits<Op, T>::type;

}  // namespace burn::backends::cpu
