// Activation functions for tensors: burn::activation::softmax(x, -1). The templates check the rank and call the
// functions of client/, where the formulas are documented. All keep the shape, except glu, which halves a dim.
#pragma once

#include "client/ops/activation.h"
#include "client/tensor/tensor.h"

namespace burn::activation {

#define BURN_ACTIVATION(name, parameters, arguments) \
  template <int D>                                   \
  Tensor<D> name parameters {                        \
    return Tensor<D>{client::name arguments};        \
  }
#define BURN_ACTIVATION_PLAIN(name) \
  BURN_ACTIVATION(name, (const Tensor<D>& x, Loc where = Loc::current()), (x.value(), at(where, #name)))
#define BURN_ACTIVATION_DIM(name) \
  BURN_ACTIVATION(name, (const Tensor<D>& x, int dim, Loc where = Loc::current()), (x.value(), dim, at(where, #name)))
#define BURN_ACTIVATION_NUMBER(name, number, fallback)                                              \
  BURN_ACTIVATION(name, (const Tensor<D>& x, double number = fallback, Loc where = Loc::current()), \
                  (x.value(), number, at(where, #name)))

template <int D>
Tensor<D> relu(const Tensor<D>& x, Loc where = Loc::current()) {
  return x.relu(where);
}
template <int D>
Tensor<D> sigmoid(const Tensor<D>& x, Loc where = Loc::current()) {
  return x.sigmoid(where);
}
template <int D>
Tensor<D> tanh(const Tensor<D>& x, Loc where = Loc::current()) {
  return x.tanh(where);
}

BURN_ACTIVATION_DIM(softmax)
BURN_ACTIVATION_DIM(log_softmax)
BURN_ACTIVATION_DIM(softmin)
BURN_ACTIVATION_DIM(quiet_softmax)
BURN_ACTIVATION_DIM(glu)

BURN_ACTIVATION_PLAIN(gelu)
BURN_ACTIVATION_PLAIN(gelu_approximate)
BURN_ACTIVATION_PLAIN(silu)
BURN_ACTIVATION_PLAIN(mish)
BURN_ACTIVATION_PLAIN(relu6)
BURN_ACTIVATION_PLAIN(hard_swish)
BURN_ACTIVATION_PLAIN(log_sigmoid)
BURN_ACTIVATION_PLAIN(softsign)
BURN_ACTIVATION_PLAIN(tanhshrink)
BURN_ACTIVATION_PLAIN(selu)

BURN_ACTIVATION_NUMBER(softplus, beta, 1)
BURN_ACTIVATION_NUMBER(leaky_relu, negative_slope, 0.01)
BURN_ACTIVATION_NUMBER(elu, alpha, 1)
BURN_ACTIVATION_NUMBER(celu, alpha, 1)
BURN_ACTIVATION_NUMBER(thresholded_relu, alpha, 1)

BURN_ACTIVATION(hardtanh, (const Tensor<D>& x, double low = -1, double high = 1, Loc where = Loc::current()),
                (x.value(), low, high, at(where, "hardtanh")))
BURN_ACTIVATION(hard_sigmoid, (const Tensor<D>& x, double alpha = 0.2, double beta = 0.5, Loc where = Loc::current()),
                (x.value(), alpha, beta, at(where, "hard_sigmoid")))
BURN_ACTIVATION(threshold, (const Tensor<D>& x, double threshold, double value, Loc where = Loc::current()),
                (x.value(), threshold, value, at(where, "threshold")))
BURN_ACTIVATION(shrink, (const Tensor<D>& x, double lambda = 0.5, double bias = 0, Loc where = Loc::current()),
                (x.value(), lambda, bias, at(where, "shrink")))
BURN_ACTIVATION(prelu, (const Tensor<D>& x, const Tensor<1>& alpha, Loc where = Loc::current()),
                (x.value(), alpha.value(), at(where, "prelu")))

template <int D>
Tensor<D> hard_shrink(const Tensor<D>& x, double lambda = 0.5, Loc where = Loc::current()) {
  return Tensor<D>{client::shrink(x.value(), lambda, 0, at(where, "hard_shrink"))};
}
template <int D>
Tensor<D> soft_shrink(const Tensor<D>& x, double lambda = 0.5, Loc where = Loc::current()) {
  return Tensor<D>{client::shrink(x.value(), lambda, lambda, at(where, "soft_shrink"))};
}

#undef BURN_ACTIVATION_NUMBER
#undef BURN_ACTIVATION_DIM
#undef BURN_ACTIVATION_PLAIN
#undef BURN_ACTIVATION

}  // namespace burn::activation
