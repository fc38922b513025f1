// Position encodings: they make the position in a sequence known to layers that treat all positions alike.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/module.h"

namespace burn::nn {

// Adds sines and cosines of the position (Vaswani et al., arXiv:1706.03762, 3.5): sin at even, cos at odd columns, of
// position max_timescale^(-2k / d_model) for the k-th pair of columns.
struct PositionalEncoding {
  Tensor<3> sinusoids;  // [1, max_sequence_size, d_model]
  BURN_MODULE(PositionalEncoding, sinusoids)

  // Shapes: [batch, time, d_model] -> the same. Errors: another last dim; more time than max_sequence_size.
  BURN_FORWARD_RANK(nullptr, 3, 3)
  client::Value apply(const client::Value& x, const client::Site& site) const;
};

struct PositionalEncodingConfig {
  std::int64_t d_model = 0;  // even
  std::int64_t max_sequence_size = 5000;
  std::int64_t max_timescale = 10000;
  BURN_CONFIG(PositionalEncodingConfig, d_model, max_sequence_size, max_timescale)

  PositionalEncoding init(const Device& device) const;  // Errors: a size below 1; an odd d_model.
};

// Rotates each pair of columns (2k, 2k + 1) by the angle position / theta^(2k / d_model) (Su et al., arXiv:2104.09864):
// (a, b) -> (a cos - b sin, b cos + a sin). Dot products of two such rows depend on the positions only through their
// distance.
struct RotaryEncoding {
  Tensor<3> cosines, sines;     // [max_sequence_length, d_model / 2, 2]; sines include the sign of the column
  std::vector<double> rates{};  // of each pair, radians per position
  std::int64_t first = 0;       // the position of the tables' first row
  BURN_MODULE(RotaryEncoding, cosines, sines)

  // Rows at positions 0, 1, ... Shapes: [..., time, d_model] -> the same. Errors: another last dim; positions outside
  // the tables.
  BURN_FORWARD_ANY_RANK(nullptr, 2)
  client::Value apply(const client::Value& x, const client::Site& site) const { return apply(x, 0, site); }
  // Rows at positions start, start + 1, ...: for one step of a generation.
  template <int D>
    requires(D >= 2)
  Tensor<D> apply(const Tensor<D>& x, std::int64_t start, Loc where = Loc::current()) const {
    return Tensor<D>{apply(x.value(), start, at(where))};
  }
  client::Value apply(const client::Value& x, std::int64_t start, const client::Site& site) const;
  // Recomputes the tables for positions from `start` on, for sequences beyond their end. Errors: a negative start.
  void shift(std::int64_t start, Loc where = Loc::current());
  void reset(Loc where = Loc::current()) { shift(0, where); }
};

struct RotaryEncodingConfig {
  std::int64_t max_sequence_length = 0;
  std::int64_t d_model = 0;  // even
  double theta = 10000;
  BURN_CONFIG(RotaryEncodingConfig, max_sequence_length, d_model, theta)

  RotaryEncoding init(const Device& device) const;  // Errors: a size below 1; an odd d_model; a theta not positive.
  // Passes the rate of each pair (radians per position) through `scaling`, as models with long contexts do.
  RotaryEncoding init_with_frequency_scaling(const std::function<double(double)>& scaling, const Device& device) const;
};

}  // namespace burn::nn
