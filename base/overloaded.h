// Several lambdas as one function object: a visitor of a std::variant.
#pragma once

namespace burn {

template <typename... Bodies>
struct Overloaded : Bodies... {
  using Bodies::operator()...;
};
template <typename... Bodies>
Overloaded(Bodies...) -> Overloaded<Bodies...>;  // older compilers want to be told

}  // namespace burn
