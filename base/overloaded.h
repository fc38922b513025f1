// Several lambdas as one function object: a visitor of a std::variant.
#pragma once

namespace burn {

template <typename... Bodies>
struct Overloaded : Bodies... {
  using Bodies::operator()...;
};
template <typename... Bodies>
Overloaded(Bodies...) -> Overloaded<Bodies...>;  // older compilers do not deduce it

}  // namespace burn
