// Helpers that build layers from a case's inputs. Private to this folder.
#pragma once

#include "nn/nn.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {

// A parameter that holds this very value, so that gradients reach the case's input.
template <int D>
Param<D> param(const Value& value) {
  Param<D> result;
  result.slot().value = value;
  return result;
}
template <int D>
std::optional<Param<D>> param(const Value* value) {
  return value == nullptr ? std::nullopt : std::optional{param<D>(*value)};
}
inline RunningState<1> state(const Value& value) { return Tensor<1>{value}; }
inline std::optional<RunningState<1>> state(const Value* value) {
  return value == nullptr ? std::nullopt : std::optional{state(*value)};
}

inline const Value& as_value(const Value& x) { return x; }
template <int D>
const Value& as_value(const Tensor<D>& x) {
  return x.value();
}

// Calls `body` with the value as a Tensor of its rank.
template <typename Body>
Value with_rank(const Value& x, Body&& body) {
  switch (x.rank()) {
    case 1:
      return as_value(body(Tensor<1>{x}));
    case 2:
      return as_value(body(Tensor<2>{x}));
    case 3:
      return as_value(body(Tensor<3>{x}));
    case 4:
      return as_value(body(Tensor<4>{x}));
    default:
      return as_value(body(Tensor<5>{x}));
  }
}

inline nn::Linear linear(const Call& c, std::size_t weight) {
  return {.weight = param<2>(c.x(weight)), .bias = param<1>(c.optional(weight + 1))};
}

}  // namespace burn::conformance
