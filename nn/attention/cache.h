// What layers keep between the steps of a generation, so that a step computes only what is new: a value, empty at
// first, for each sequence that is generated. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "client/fail.h"
#include "client/tensor/tensor.h"

namespace burn::nn {

// Results for the positions of a sequence so far, along dim 1: [batch, length, ...].
template <int D>
struct TensorCache {
  std::optional<Tensor<D>> value{};  // none: nothing yet

  std::int64_t length(Loc where = Loc::current()) const { return value ? value->dim(1, where) : 0; }

  // The results so far and then these.
  const Tensor<D>& append(const Tensor<D>& fresh, Loc where = Loc::current()) {
    value = value ? Tensor<D>::cat({*value, fresh}, 1, where) : fresh;
    return *value;
  }
  // The same without a rank.
  const client::Value& append(const client::Value& fresh, const client::Site& site) {
    const auto joined = [&] {
      const client::Value parts[] = {value->value(), fresh};
      return client::concat(parts, 1, site);
    };
    value = Tensor<D>{value ? joined() : fresh};
    return value->value();
  }
};

// Of attention: keys and values, projected, and what was found for the queries so far.
struct MhaCache {
  TensorCache<3> key{}, value{}, output{};  // [batch, m, d_model], [batch, m, d_model], [batch, n, d_model]
  bool is_cross = false;                    // keys and values come from a memory that stays as it is

  // Of a sequence that attends to itself, position by position.
  static MhaCache autoregressive() { return {}; }
  // Of a sequence that attends to a memory.
  static MhaCache autoregressive_cross_attention() { return {.is_cross = true}; }
};

namespace detail {
// Throws unless a cache is of as many layers as there are.
inline void check_layers(const char* op, std::size_t cached, std::size_t layers, Loc where) {
  if (cached == layers) return;
  client::fail(std::string{op} + ": a cache of " + std::to_string(cached) + " layers for " + std::to_string(layers),
               at(where, op));
}
}  // namespace detail

}  // namespace burn::nn
