// Walks over two modules of the same structure in parallel: for averages of a model over its training, for distances
// between two models, for a target network that is updated slowly.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "nn/module/module.h"

namespace burn::nn {

namespace detail {
// Replaces the slot's values; another dtype is converted. Errors: a shape other than the slot's.
void put_of_pair(const std::string& path, Slot& slot, const client::Value& value);

// Calls body if the float tensors have rank D, with tensors of static rank, off the tape.
template <int D, typename Body>
bool visit_pair(const std::string& path, const Slot& a, Slot& b, Body& body) {
  if (a.value.rank() != D) return false;
  const Tensor<D> of_a{a.value.inner()};
  Tensor<D> of_b{b.value.inner()};
  body(path, of_a, of_b);
  put_of_pair(path, b, of_b.value());
  return true;
}
}  // namespace detail

// Calls body(path, a, b) for each float tensor of two modules, parameters and running statistics: `a` is a const
// Tensor<D>& of the first module, `b` a Tensor<D>& of the second, of the same shape, both without a tape. The value
// that body assigns to `b` replaces the second module's, in the dtype it had: frozen parameters stay frozen, trained
// ones become new leaves. A parameter at several places is visited once. Tensors of whole numbers and bools are
// skipped.
//
//   Net mean = net.no_grad();                                 // an exponential moving average of the weights
//   ...                                                       // after each step:
//   nn::for_each_pair(net, mean, [](const std::string&, const auto& now, auto& mean) {
//     mean = mean * 0.999 + now * 0.001;
//   });
//
// Errors (thrown), with the path, before the first call: a tensor that one of the modules does not have, that has
// another shape or is on another device, or that is tied in one of them only. After a call: a `b` of another shape.
template <Module A, Module B, typename Body>
void for_each_pair(const A& a, B& b, Body&& body) {
  detail::for_each_pair(const_cast<A&>(a).walk(), b.walk(), [&](const std::string& path, Slot& of_a, Slot& of_b) {
    if (!ir::is_floating(of_a.value.dtype()) || !ir::is_floating(of_b.value.dtype())) return;
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (void)(detail::visit_pair<I + 1>(path, of_a, of_b, body) || ...);
    }(std::make_integer_sequence<int, ir::kMaxRank>());
  });
}

}  // namespace burn::nn
