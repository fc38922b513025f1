// Initial values of parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "client/tensor/tensor.h"
#include "nn/module/config.h"

namespace burn::nn {

// A value that is also a configuration: {"kind": "kaiming_uniform", "gain": 0.577}. Only the settings of its kind are
// used. Random numbers come from the device's random stream, so device.seed() makes them repeatable.
struct Initializer {
  std::string kind = "kaiming_uniform";
  double value = 0;                // constant
  double min = 0, max = 1;         // uniform: in [min, max)
  double mean = 0, deviation = 1;  // normal
  double gain = 1;                 // kaiming, xavier and orthogonal
  bool fan_out_only = false;       // kaiming: scaled by the fan-out instead of the fan-in
  BURN_CONFIG(Initializer, kind, value, min, max, mean, deviation, gain, fan_out_only)

  static Initializer constant(double value) { return {.kind = "constant", .value = value}; }
  static Initializer ones() { return {.kind = "ones"}; }
  static Initializer zeros() { return {.kind = "zeros"}; }
  static Initializer uniform(double min, double max) { return {.kind = "uniform", .min = min, .max = max}; }
  static Initializer normal(double mean, double deviation) {
    return {.kind = "normal", .mean = mean, .deviation = deviation};
  }
  // He et al., arXiv:1502.01852. Uniform in +-gain sqrt(3 / fan), or normal with deviation gain / sqrt(fan).
  static Initializer kaiming_uniform(double gain = 1, bool fan_out_only = false) {
    return {.kind = "kaiming_uniform", .gain = gain, .fan_out_only = fan_out_only};
  }
  static Initializer kaiming_normal(double gain = 1, bool fan_out_only = false) {
    return {.kind = "kaiming_normal", .gain = gain, .fan_out_only = fan_out_only};
  }
  // Glorot and Bengio 2010. As above with sqrt(2 / (fan-in + fan-out)) instead of 1 / sqrt(fan).
  static Initializer xavier_uniform(double gain = 1) { return {.kind = "xavier_uniform", .gain = gain}; }
  static Initializer xavier_normal(double gain = 1) { return {.kind = "xavier_normal", .gain = gain}; }
  // Saxe et al., arXiv:1312.6120: the tensor as a matrix, whose rows are the first dim's slices, has orthogonal rows
  // (or, if it has more rows than columns, orthogonal columns), each of length gain. For tensors of two dims or more.
  static Initializer orthogonal(double gain = 1) { return {.kind = "orthogonal", .gain = gain}; }

  // A tensor of these dims; on an autodiff device it is not tracked yet (Param does that). fan_in is the number of
  // inputs that one output depends on, fan_out the number of outputs that one input affects. Errors: an unknown kind; a
  // kind that scales by a fan that is not given; orthogonal with one dim.
  template <int D>
  Tensor<D> init(const Dims<D>& dims, const TensorOptions& options, std::optional<std::int64_t> fan_in = std::nullopt,
                 std::optional<std::int64_t> fan_out = std::nullopt, Loc where = Loc::current()) const {
    return Tensor<D>{draw(dims, options, fan_in, fan_out, at(where))};
  }

 private:
  client::Value draw(const ir::Shape& shape, const TensorOptions& options, std::optional<std::int64_t> fan_in,
                     std::optional<std::int64_t> fan_out, const client::Site& site) const;
};

// The default of layers with a weight: uniform in +-1 / sqrt(fan-in), by a gain of 1 / sqrt(3).
inline Initializer default_initializer() { return Initializer::kaiming_uniform(0.57735026918962576451); }

}  // namespace burn::nn
