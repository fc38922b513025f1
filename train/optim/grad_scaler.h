// Loss scaling, for gradients in f16: numbers below 6e-8 are 0 there, so the loss is multiplied by a large factor
// before backward(), and the gradients are divided by it afterwards. bf16 has the exponent range of f32 and does not
// need it.
//
//   auto scaler = optim::GradScalerConfig{}.init(device);
//   auto grads = GradientsParams::from_grads(scaler.scale(loss).backward(), net);
//   net = optim.step(lr, std::move(net), scaler.unscale(std::move(grads)));
//
// The factor is adjusted automatically (Micikevicius et al., arXiv:1710.03740): if gradients contain an infinity or a
// NaN, it is halved and the step is not taken; after 2,000 steps without that it is doubled. All of this happens on the
// device, which stores the factor: nothing is read, and the step stays one program.
#pragma once

#include <cstdint>

#include "client/capture/state.h"
#include "client/tensor/tensor.h"
#include "nn/module/config.h"
#include "train/optim/gradients_params.h"

namespace burn::optim {

struct GradScalerConfig;

// A value; one thread at a time. Pass it to captured steps by reference.
class GradScaler {
 public:
  // Returns the loss in f32, multiplied by the factor.
  Tensor<1> scale(const Tensor<1>& loss, Loc where = Loc::current()) const;
  // Divides the gradients of a scaled loss by the factor, then adjusts the factor. The result can be clipped and passed
  // to an optimizer, which takes the step only if all gradients are finite. A step that is not taken changes nothing on
  // the device; the host does not know and counts it (in Adam's bias correction).
  GradientsParams unscale(GradientsParams gradients, Loc where = Loc::current());

  // The factor of the next scale(), and the number of successive steps taken since it last changed: [1], f32.
  const Tensor<1>& factor() const { return factor_; }
  const Tensor<1>& taken() const { return taken_; }
  // Continues with the factor and the count of another scaler.
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
  double growth = 2;       // multiplies the factor after `growth_interval` successive steps
  double backoff = 0.5;    // multiplies the factor after a step that was not taken
  std::int64_t growth_interval = 2000;
  BURN_CONFIG(GradScalerConfig, initial, growth, backoff, growth_interval)

  // Errors: a factor or an interval that is not positive; growth below 1; backoff above 1.
  GradScaler init(const Device& device) const;
};

}  // namespace burn::optim

namespace burn {
using optim::GradScaler;
}  // namespace burn
