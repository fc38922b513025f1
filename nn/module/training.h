// Whether a layer is being trained, for layers that behave differently in training (dropout, batch normalisation).
#pragma once

#include <cstdint>

#include "client/value.h"

namespace burn::nn {

// A field of such a layer, named in its BURN_MODULE list like any other. train() and valid() of a module that contains
// it set it. It is copied with the module, and keeps its mode when the module is moved to another device.
//
//   struct Noise {
//     double scale = 0.1;
//     nn::Training training{};
//     BURN_MODULE(Noise, scale, training)
//
//     Tensor<2> forward(const Tensor<2>& x) const {
//       return training.is_on(x.value()) ? x + x.random_like(Distribution::normal(0, scale)) : x;
//     }
//   };
class Training {
 public:
  // by_device: the mode until train() or valid() is called. The layer trains while it is on an autodiff device.
  enum class Mode : std::uint8_t { by_device, on, off };

  Mode mode() const { return mode_; }
  void set(Mode mode) { mode_ = mode; }
  // `decisive`: the tensor whose device decides in mode by_device: a parameter of the layer, or its input.
  bool is_on(const client::Value& decisive) const {
    return mode_ == Mode::by_device ? decisive.is_autodiff() : mode_ == Mode::on;
  }

 private:
  Mode mode_ = Mode::by_device;
};

}  // namespace burn::nn
