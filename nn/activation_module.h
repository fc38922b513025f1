// Activations as modules, for fields of a network: nn::Relu, nn::Gelu ... Settings are plain fields:
// nn::LeakyRelu{.negative_slope = 0.1}.
#pragma once

#include "nn/activation.h"
#include "nn/config.h"
#include "nn/initializer.h"
#include "nn/module.h"

namespace burn::nn {

// The body of such a module; `call` computes with x and where. Shapes: [...] -> the same.
#define BURN_ACTIVATION_MODULE(Type, call)                                     \
  BURN_MODULE(Type)                                                            \
  template <int D>                                                             \
  Tensor<D> forward(const Tensor<D>& x, Loc where = Loc::current()) const {    \
    return call;                                                               \
  }                                                                            \
  template <int D>                                                             \
  Tensor<D> operator()(const Tensor<D>& x, Loc where = Loc::current()) const { \
    return forward(x, where);                                                  \
  }

struct Relu {
  BURN_ACTIVATION_MODULE(Relu, activation::relu(x, where))
};
struct Relu6 {
  BURN_ACTIVATION_MODULE(Relu6, activation::relu6(x, where))
};
struct Sigmoid {
  BURN_ACTIVATION_MODULE(Sigmoid, activation::sigmoid(x, where))
};
struct LogSigmoid {
  BURN_ACTIVATION_MODULE(LogSigmoid, activation::log_sigmoid(x, where))
};
struct Tanh {
  BURN_ACTIVATION_MODULE(Tanh, activation::tanh(x, where))
};
struct SiLU {
  BURN_ACTIVATION_MODULE(SiLU, activation::silu(x, where))
};
struct Mish {
  BURN_ACTIVATION_MODULE(Mish, activation::mish(x, where))
};
struct HardSwish {
  BURN_ACTIVATION_MODULE(HardSwish, activation::hard_swish(x, where))
};
struct Softsign {
  BURN_ACTIVATION_MODULE(Softsign, activation::softsign(x, where))
};
struct Tanhshrink {
  BURN_ACTIVATION_MODULE(Tanhshrink, activation::tanhshrink(x, where))
};
struct Selu {
  BURN_ACTIVATION_MODULE(Selu, activation::selu(x, where))
};

struct Gelu {
  bool approximate = false;  // the tanh form instead of the exact one
  BURN_ACTIVATION_MODULE(Gelu, approximate ? activation::gelu_approximate(x, where) : activation::gelu(x, where))
};
struct LeakyRelu {
  double negative_slope = 0.01;
  BURN_ACTIVATION_MODULE(LeakyRelu, activation::leaky_relu(x, negative_slope, where))
};
struct Elu {
  double alpha = 1;
  BURN_ACTIVATION_MODULE(Elu, activation::elu(x, alpha, where))
};
struct Celu {
  double alpha = 1;
  BURN_ACTIVATION_MODULE(Celu, activation::celu(x, alpha, where))
};
struct Softplus {
  double beta = 1;
  BURN_ACTIVATION_MODULE(Softplus, activation::softplus(x, beta, where))
};
struct HardSigmoid {
  double alpha = 0.2, beta = 0.5;
  BURN_ACTIVATION_MODULE(HardSigmoid, activation::hard_sigmoid(x, alpha, beta, where))
};
struct Hardtanh {
  double low = -1, high = 1;
  BURN_ACTIVATION_MODULE(Hardtanh, activation::hardtanh(x, low, high, where))
};
struct HardShrink {
  double lambda = 0.5;
  BURN_ACTIVATION_MODULE(HardShrink, activation::hard_shrink(x, lambda, where))
};
struct SoftShrink {
  double lambda = 0.5;
  BURN_ACTIVATION_MODULE(SoftShrink, activation::soft_shrink(x, lambda, where))
};

#undef BURN_ACTIVATION_MODULE

// A learned slope below zero: one, or one for each channel (dim 1).
struct PRelu {
  Param<1> alpha;  // [1] or [channel]
  BURN_MODULE(PRelu, alpha)

  // Shapes: [...] or [batch, channel, ...] -> the same. Errors: other channels.
  template <int D>
  Tensor<D> forward(const Tensor<D>& x, Loc where = Loc::current()) const {
    return activation::prelu(x, alpha.val(), where);
  }
  template <int D>
  Tensor<D> operator()(const Tensor<D>& x, Loc where = Loc::current()) const {
    return forward(x, where);
  }
};

struct PReluConfig {
  std::int64_t num_parameters = 1;
  double alpha = 0.25;  // to start from
  BURN_CONFIG(PReluConfig, num_parameters, alpha)

  PRelu init(const Device& device) const {
    return {.alpha = Initializer::constant(alpha).init<1>({num_parameters}, device)};
  }
};

}  // namespace burn::nn
