// What an op's struct says of itself, and how it is asked.
#pragma once

#include <string_view>

#include "ir/dtype.h"
#include "ir/shape.h"

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

template <typename Kind>
constexpr bool has_effect() {
  if constexpr (requires { Kind::kEffect; })
    return Kind::kEffect;
  else
    return false;
}

}  // namespace burn::ir
