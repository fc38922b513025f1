// forward() of a layer and a call of it, both made from its rank-free body. A layer has
//
//   client::Value apply(const client::Value& x, ..., const client::Site& site) const;
//
// in public, for callers that know no rank at compile time (other layers, importers, bindings), and one of the macros
// below for tensors with one. `called`: the function that errors name, a string literal, or nullptr: the op that
// failed. forward() and a call take the place of the call as their last argument, which users leave out.
#pragma once

#include <optional>

#include "client/tensor/tensor.h"

namespace burn::nn::detail {

// An optional tensor without its rank, for apply().
template <int D, Kind K>
std::optional<client::Value> value_of(const std::optional<Tensor<D, K>>& tensor) {
  return tensor ? std::optional{tensor->value()} : std::nullopt;
}

}  // namespace burn::nn::detail

#define BURN_LIST(...) __VA_ARGS__

// A `Result` of apply(values..., site). `Template`, `parameters` and `values` are lists in parentheses, `Template` may
// be empty.
#define BURN_FORWARD(called, Template, Result, parameters, values)                                               \
  BURN_LIST Template Result forward(BURN_LIST parameters, ::burn::Loc where = ::burn::Loc::current()) const {    \
    return Result(this->apply(BURN_LIST values, ::burn::at(where, called)));                                     \
  }                                                                                                              \
  BURN_LIST Template Result operator()(BURN_LIST parameters, ::burn::Loc where = ::burn::Loc::current()) const { \
    return Result(this->apply(BURN_LIST values, ::burn::at(where, called)));                                     \
  }

// A tensor of rank `to` of one of rank `from`.
#define BURN_FORWARD_RANK(called, from, to) \
  BURN_FORWARD(called, (), ::burn::Tensor<to>, (const ::burn::Tensor<from>& x), (x.value()))

// A tensor of any rank from `least` on, and one of the same rank of it.
#define BURN_FORWARD_ANY_RANK(called, least)                                                                       \
  BURN_FORWARD(called, (template <int D> requires(D >= (least))), ::burn::Tensor<D>, (const ::burn::Tensor<D>& x), \
               (x.value()))
