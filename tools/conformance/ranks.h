// Converts values, whose rank is known only at run time, to tensors of the public API, whose rank is a template
// parameter.
#pragma once

#include <string>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "client/tensor/tensor.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {

// Calls body.operator()<D>() with the rank of x, kMinRank <= D <= kMax.
template <int kMinRank, int kMax, typename Body>
std::vector<Value> with_rank(const Value& x, const Body& body) {
  std::vector<Value> results;
  const bool found = [&]<int... I>(std::integer_sequence<int, I...>) {
    return ((x.rank() == kMinRank + I && (results = body.template operator()<kMinRank + I>(), true)) || ...);
  }(std::make_integer_sequence<int, kMax - kMinRank + 1>{});
  if (!found) throw Error(StatusCode::unimplemented, "no function for rank " + std::to_string(x.rank()));
  return results;
}

template <int D, typename K>
std::vector<Value> results(const Tensor<D, K>& y) {
  return {y.value()};
}
template <typename... Tensors>
std::vector<Value> results(const std::tuple<Tensors...>& y) {
  return std::apply([](const auto&... each) { return std::vector<Value>{each.value()...}; }, y);
}
template <typename A, typename B>
std::vector<Value> results(const std::pair<A, B>& y) {
  return {y.first.value(), y.second.value()};
}

}  // namespace burn::conformance
