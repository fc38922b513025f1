// Macros that define forward() and operator() of a layer from its rank-free body. A layer has
//
//   client::Value apply(const client::Value& x, ..., const client::Site& site) const;
//
// in public, for callers that do not know the rank at compile time (other layers, importers, bindings), and one of the
// macros below for tensors with a static rank. `called`: the function that errors name, a string literal; nullptr:
// errors name the op that failed. forward() and operator() take the call site as their last argument, which users omit.
#pragma once

#include <optional>

#include "client/tensor/tensor.h"

namespace burn::nn::detail {

// An optional tensor as a value without rank, for apply().
template <int D, Kind K>
std::optional<client::Value> value_of(const std::optional<Tensor<D, K>>& tensor) {
  return tensor ? std::optional{tensor->value()} : std::nullopt;
}

}  // namespace burn::nn::detail

#define BURN_LIST(...) __VA_ARGS__

// Defines methods that return apply(values..., site) as a `Result`. `Template`, `parameters` and `values` are lists in
// parentheses; `Template` may be empty.
#define BURN_FORWARD(called, Template, Result, parameters, values)                                               \
  BURN_LIST Template Result forward(BURN_LIST parameters, ::burn::Loc where = ::burn::Loc::current()) const {    \
    return Result(this->apply(BURN_LIST values, ::burn::at(where, called)));                                     \
  }                                                                                                              \
  BURN_LIST Template Result operator()(BURN_LIST parameters, ::burn::Loc where = ::burn::Loc::current()) const { \
    return Result(this->apply(BURN_LIST values, ::burn::at(where, called)));                                     \
  }

// Takes a tensor of rank `from`, returns one of rank `to`.
#define BURN_FORWARD_RANK(called, from, to) \
  BURN_FORWARD(called, (), ::burn::Tensor<to>, (const ::burn::Tensor<from>& x), (x.value()))

// Takes a tensor of any rank of at least `least`, returns one of the same rank.
#define BURN_FORWARD_ANY_RANK(called, least)                                                                       \
  BURN_FORWARD(called, (template <int D> requires(D >= (least))), ::burn::Tensor<D>, (const ::burn::Tensor<D>& x), \
               (x.value()))
