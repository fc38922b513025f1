// Activations as modules, for fields of a network: nn::Relu, nn::Gelu ... Settings are plain fields:
// nn::LeakyRelu{.negative_slope = 0.1}. Shapes: [...] -> the same, except for GLU and SwiGlu, which halve a dim or
// project the last one.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "nn/activation/activation.h"
#include "nn/layer/linear.h"
#include "nn/module/config.h"
#include "nn/module/forward.h"
#include "nn/module/training.h"

namespace burn::nn {

// The body of a module without parameters; `call` computes with x and site.
#define BURN_ACTIVATION_MODULE(Type, call)                                                     \
  BURN_MODULE(Type)                                                                            \
  client::Value apply(const client::Value& x, const client::Site& site) const { return call; } \
  BURN_FORWARD_ANY_RANK(nullptr, 1)

struct Relu {
  BURN_ACTIVATION_MODULE(Relu, client::pointwise(ir::PointwiseFn::relu, x, site))
};
struct Relu6 {
  BURN_ACTIVATION_MODULE(Relu6, client::relu6(x, site))
};
struct Sigmoid {
  BURN_ACTIVATION_MODULE(Sigmoid, client::pointwise(ir::PointwiseFn::sigmoid, x, site))
};
struct LogSigmoid {
  BURN_ACTIVATION_MODULE(LogSigmoid, client::log_sigmoid(x, site))
};
struct Tanh {
  BURN_ACTIVATION_MODULE(Tanh, client::pointwise(ir::PointwiseFn::tanh, x, site))
};
struct SiLU {
  BURN_ACTIVATION_MODULE(SiLU, client::silu(x, site))
};
struct Mish {
  BURN_ACTIVATION_MODULE(Mish, client::mish(x, site))
};
struct HardSwish {
  BURN_ACTIVATION_MODULE(HardSwish, client::hard_swish(x, site))
};
struct Softsign {
  BURN_ACTIVATION_MODULE(Softsign, client::softsign(x, site))
};
struct Tanhshrink {
  BURN_ACTIVATION_MODULE(Tanhshrink, client::tanhshrink(x, site))
};
struct Selu {
  BURN_ACTIVATION_MODULE(Selu, client::selu(x, site))
};

struct Gelu {
  bool approximate = false;  // the tanh form instead of the exact one
  BURN_ACTIVATION_MODULE(Gelu, approximate ? client::gelu_approximate(x, site) : client::gelu(x, site))
};
struct LeakyRelu {
  double negative_slope = 0.01;
  BURN_ACTIVATION_MODULE(LeakyRelu, client::leaky_relu(x, negative_slope, site))
};
struct Elu {
  double alpha = 1;
  BURN_ACTIVATION_MODULE(Elu, client::elu(x, alpha, site))
};
struct Celu {
  double alpha = 1;
  BURN_ACTIVATION_MODULE(Celu, client::celu(x, alpha, site))
};
struct Softplus {
  double beta = 1;
  BURN_ACTIVATION_MODULE(Softplus, client::softplus(x, beta, site))
};
struct HardSigmoid {
  double alpha = 0.2, beta = 0.5;
  BURN_ACTIVATION_MODULE(HardSigmoid, client::hard_sigmoid(x, alpha, beta, site))
};
struct Hardtanh {
  double low = -1, high = 1;
  BURN_ACTIVATION_MODULE(Hardtanh, client::hardtanh(x, low, high, site))
};
struct HardShrink {
  double lambda = 0.5;
  BURN_ACTIVATION_MODULE(HardShrink, client::shrink(x, lambda, 0, site))
};
struct SoftShrink {
  double lambda = 0.5;
  BURN_ACTIVATION_MODULE(SoftShrink, client::shrink(x, lambda, lambda, site))
};
struct Shrink {
  double lambda = 0.5, bias = 0;
  BURN_ACTIVATION_MODULE(Shrink, client::shrink(x, lambda, bias, site))
};
struct Threshold {
  double threshold = 0, value = 0;
  BURN_ACTIVATION_MODULE(Threshold, client::threshold(x, threshold, value, site))
};
struct ThresholdedRelu {
  double alpha = 1;
  BURN_ACTIVATION_MODULE(ThresholdedRelu, client::thresholded_relu(x, alpha, site))
};
// The first half of a dim times the sigmoid of the second. Errors: an odd size.
struct GLU {
  std::int64_t dim = -1;
  BURN_ACTIVATION_MODULE(GLU, client::glu(x, dim, site))
};
#undef BURN_ACTIVATION_MODULE

// Randomized leaky ReLU (Xu et al., arXiv:1505.00853): in training each negative element has its own slope, drawn from
// [lower, upper); otherwise the slope is the middle of that range.
struct RRelu {
  double lower = 0.125, upper = 1.0 / 3;
  Training training{};
  BURN_MODULE(RRelu, training)
  client::Value apply(const client::Value& x, const client::Site& site) const;
  BURN_FORWARD_ANY_RANK(nullptr, 1)
};

// ReLU with a learned slope below zero: one slope for all elements, or one per channel (dim 1).
struct PRelu {
  Param<1> alpha;  // [1] or [channel]
  BURN_MODULE(PRelu, alpha)

  // Shapes: [...] or [batch, channel, ...] -> the same. Errors: other channels.
  client::Value apply(const client::Value& x, const client::Site& site) const;
  BURN_FORWARD_ANY_RANK(nullptr, 1)
};

struct PReluConfig {
  std::int64_t num_parameters = 1;
  double alpha = 0.25;  // initial slope
  BURN_CONFIG(PReluConfig, num_parameters, alpha)

  PRelu init(const Device& device) const;  // Errors: fewer than one parameter.
};

// silu(x W + b) (x V + c): a gated layer (Shazeer, arXiv:2002.05202).
struct SwiGlu {
  Linear linear_inner, linear_outer;
  BURN_MODULE(SwiGlu, linear_inner, linear_outer)

  // Shapes: [..., d_input] -> [..., d_output]. Errors: another last dim.
  client::Value apply(const client::Value& x, const client::Site& site) const;
  BURN_FORWARD_ANY_RANK(nullptr, 1)
};

struct SwiGluConfig {
  std::int64_t d_input = 0, d_output = 0;
  bool bias = false;
  Initializer initializer = default_initializer();
  BURN_CONFIG(SwiGluConfig, d_input, d_output, bias, initializer)

  SwiGlu init(const Device& device) const;  // Errors: a size below 1.
};

// Any activation of this header, for a layer whose activation is an option: nn::Activation a = nn::Gelu{};
struct Activation {
  // Activations with parameters come first: a record identifies the alternative by its index in this list.
  using Any = std::variant<PRelu, SwiGlu, Relu, Relu6, Sigmoid, LogSigmoid, Tanh, SiLU, Mish, HardSwish, Softsign,
                           Tanhshrink, Selu, Gelu, LeakyRelu, Elu, Celu, Softplus, HardSigmoid, Hardtanh, HardShrink,
                           SoftShrink, Shrink, Threshold, ThresholdedRelu, GLU, RRelu>;
  Any any = Relu{};
  BURN_MODULE(Activation, any)

  Activation() = default;
  template <typename T>
    requires std::constructible_from<Any, T> && (!std::same_as<std::remove_cvref_t<T>, Activation>)
  Activation(T&& one) : any(std::forward<T>(one)) {}  // NOLINT: an activation is one wherever any is asked for

  client::Value apply(const client::Value& x, const client::Site& site) const;
  BURN_FORWARD_ANY_RANK(nullptr, 1)
};

// The kind of activation, and the settings that differ from its defaults: {"kind": "leaky_relu", "negative_slope":
// 0.1}. Settings that the kind does not have are ignored.
struct ActivationConfig {
  std::string kind = "relu";
  std::optional<double> negative_slope{}, alpha{}, beta{}, lambda{}, bias{}, low{}, high{}, threshold{}, value{},
      lower{}, upper{};
  std::optional<std::int64_t> num_parameters{}, d_input{}, d_output{}, dim{};
  BURN_CONFIG(ActivationConfig, kind, negative_slope, alpha, beta, lambda, bias, low, high, threshold, value, lower,
              upper, num_parameters, d_input, d_output, dim)

  // Errors: an unknown kind; the message lists the known ones.
  Activation init(const Device& device) const;
};

// An ActivationConfig as a field of another configuration. The kind alone is enough: .activation = "relu", and in JSON
// "activation": "relu".
struct AnyActivationConfig : ActivationConfig {
  AnyActivationConfig(const char* kind) { this->kind = kind; }                           // NOLINT: implicit on purpose
  AnyActivationConfig(std::string kind) { this->kind = std::move(kind); }                // NOLINT
  AnyActivationConfig(ActivationConfig config) : ActivationConfig(std::move(config)) {}  // NOLINT

  void set_from_name(std::string name) { *this = AnyActivationConfig{std::move(name)}; }
};

}  // namespace burn::nn
