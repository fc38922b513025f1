// Caches that layers keep between the steps of a generation, so that a step computes the new positions only. Each
// generated sequence has its own cache, empty at first. One thread at a time.
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
  std::optional<Tensor<D>> value{};  // empty before the first step

  std::int64_t length(Loc where = Loc::current()) const { return value ? value->dim(1, where) : 0; }

  // Appends `fresh` to the results so far, and returns all of them.
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

// The cache of attention: projected keys and values, and the outputs of the queries so far.
struct MhaCache {
  TensorCache<3> key{}, value{}, output{};  // [batch, m, d_model], [batch, m, d_model], [batch, n, d_model]
  bool is_cross = false;                    // keys and values come from a memory that does not change

  // For self-attention: the sequence grows with each step.
  static MhaCache autoregressive() { return {}; }
  // For cross attention to a memory.
  static MhaCache autoregressive_cross_attention() { return {.is_cross = true}; }
};

namespace detail {
// Throws unless the cache was made for this number of layers.
inline void check_layers(const char* op, std::size_t cached, std::size_t layers, Loc where) {
  if (cached == layers) return;
  client::fail(std::string{op} + ": a cache of " + std::to_string(cached) + " layers for " + std::to_string(layers),
               at(where, op));
}
}  // namespace detail

}  // namespace burn::nn
