// Layers that pass their input on, as it is or nearly so.
#pragma once

#include "nn/config.h"
#include "nn/module.h"

namespace burn::nn {

struct Identity {
  BURN_MODULE(Identity)
  template <int D, Kind K>
  Tensor<D, K> forward(const Tensor<D, K>& x) const {
    return x;
  }
  template <int D, Kind K>
  Tensor<D, K> operator()(const Tensor<D, K>& x) const {
    return x;
  }
};

// In training, adds normal noise of this deviation.
struct GaussianNoise {
  double std = 0.1;
  Training training{};
  BURN_MODULE(GaussianNoise, training)

  // Shapes: [...] -> the same.
  template <int D>
  Tensor<D> forward(const Tensor<D>& x, Loc where = Loc::current()) const {
    return Tensor<D>{run(x.value(), at(where))};
  }
  template <int D>
  Tensor<D> operator()(const Tensor<D>& x, Loc where = Loc::current()) const {
    return forward(x, where);
  }

 private:
  client::Value run(const client::Value& x, const client::Site& site) const;
};
struct GaussianNoiseConfig {
  double std = 0.1;
  BURN_CONFIG(GaussianNoiseConfig, std)
  GaussianNoise init() const;  // Errors: a negative deviation.
};

}  // namespace burn::nn
