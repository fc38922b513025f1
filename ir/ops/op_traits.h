// Compile-time traits that the structs of ops declare, and functions that query them.
#pragma once

#include <string_view>

#include "ir/types/dtype.h"
#include "ir/types/shape.h"

namespace burn::ir {

template <typename Owner, typename Member>
struct Attr {
  std::string_view name;
  Member Owner::*member;
};
template <typename Owner, typename Member>
Attr(const char*, Member Owner::*) -> Attr<Owner, Member>;

// How many results an op of this kind has.
template <typename Kind>
constexpr int result_count() {
  if constexpr (requires { Kind::kResults; })
    return Kind::kResults;
  else
    return 1;
}

// Whether the struct declares how the op can be split: kFactors, in the notation of factor_rules::read(). The others
// have a rule function (ir/factors.h).
template <typename Kind>
concept HasFactors = requires { Kind::kFactors; };

// Whether the struct declares that no gradient flows through the op (kIsFlat). The others have a gradient rule
// (autodiff/rule_list.h).
template <typename Kind>
concept IsFlat = requires { requires Kind::kIsFlat; };

template <typename Kind>
constexpr bool has_effect() {
  if constexpr (requires { Kind::kEffect; })
    return Kind::kEffect;
  else
    return false;
}

}  // namespace burn::ir
