// Loss scaling, for gradients in f16: numbers below 6e-8 are 0 there, so the loss is multiplied by a large factor
// before backward(), and the gradients are divided by it after. bf16, whose smallest numbers are f32's, needs none of
// it.
//
//   auto scaler = optim::GradScalerConfig{}.init(device);
//   auto grads = GradientsParams::from_grads(scaler.scale(loss).backward(), net);
//   net = optim.step(lr, std::move(net), scaler.unscale(std::move(grads)));
//
// The factor looks after itself (Micikevicius et al., arXiv:1710.03740): gradients with an infinity or a NaN in them
// halve it and their step is not taken; after 2,000 steps without any it doubles. All of that happens on the device,
// where the factor lives: nothing is read, and the step stays one program.
#pragma once

#include <cstdint>

#include "client/capture/state.h"
#include "client/tensor/tensor.h"
#include "nn/module/config.h"
#include "train/optim/gradients_params.h"

namespace burn::optim {

struct GradScalerConfig;

// A value; one thread at a time. An argument of captured steps, by reference.
class GradScaler {
 public:
  // The loss in f32, times the factor.
  Tensor<1> scale(const Tensor<1>& loss, Loc where = Loc::current()) const;
  // The gradients of a scaled loss as those of the loss itself, to be clipped and handed to an optimizer, which takes
  // the step only if all of them are finite; then the next factor. A step that is not taken changes nothing on the
  // device; the host, which does not know, counts it (in Adam's corrections of its first steps).
  GradientsParams unscale(GradientsParams gradients, Loc where = Loc::current());

  // The factor of the next scale(), and how many steps in a row were taken since it last changed: [1], f32.
  const Tensor<1>& factor() const { return factor_; }
  const Tensor<1>& taken() const { return taken_; }
  // Goes on from these two, as another scaler had them.
  void load(Tensor<1> factor, Tensor<1> taken) {
    factor_ = std::move(factor);
    taken_ = std::move(taken);
  }

  friend void capture_fields(client::CaptureState& state, GradScaler& scaler) {
    state.fields(scaler.factor_, scaler.taken_);
  }

 private:
  friend struct GradScalerConfig;
  GradScaler(const GradScalerConfig& config, const Device& device);

  double growth_, backoff_, growth_interval_;
  Tensor<1> factor_, taken_;
};

struct GradScalerConfig {
  double initial = 65536;  // the first factor
  double growth = 2;       // what it is multiplied by after `growth_interval` steps that were taken
  double backoff = 0.5;    // and after one that was not
  std::int64_t growth_interval = 2000;
  BURN_CONFIG(GradScalerConfig, initial, growth, backoff, growth_interval)

  // Errors: a factor or an interval that is not positive; growth below 1; backoff above 1.
  GradScaler init(const Device& device) const;
};

}  // namespace burn::optim

namespace burn {
using optim::GradScaler;
}  // namespace burn
