// Muon (Jordan, https://kellerjordan.github.io/posts/muon/): the step is the orthogonal matrix nearest to the momentum.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "train/optim/optimizer.h"
#include "train/optim/sgd.h"

namespace burn::optim {

// The factor of the learning rate for an [a, b] matrix. original: sqrt(max(1, a / b)); match_rms_adam_w: 0.2
// sqrt(max(a, b)), so that learning rates for AdamW can be used (arXiv:2502.16982).
enum class AdjustLrFn : std::uint8_t { original, match_rms_adam_w };
constexpr std::array<std::string_view, 2> enum_names(AdjustLrFn) { return {"original", "match_rms_adam_w"}; }

// The velocity of SGD with momentum, made nearly orthogonal by Newton-Schulz iterations, X = a X + (b A + c A^2) X with
// A = X X^T, replaces the gradient. The weight decay is decoupled: p = (1 - lr weight_decay) p before the step, with
// the learning rate as passed.
//
// For the matrices of hidden layers. Errors (of a step): a parameter of another rank; use another optimizer for those.
struct MuonConfig {
  MomentumConfig momentum{.momentum = 0.95, .dampening = 0, .nesterov = true};
  std::array<double, 3> ns_coefficients{3.4445, -4.775, 2.0315};
  std::int64_t ns_steps = 5;
  double epsilon = 1e-7;  // lower bound of the norm that a matrix is divided by
  AdjustLrFn adjust_lr_fn = AdjustLrFn::original;
  double weight_decay = 0;
  std::optional<GradientClippingConfig> grad_clipping;
  BURN_OPTIMIZER_CONFIG(MuonConfig, momentum, ns_coefficients, ns_steps, epsilon, adjust_lr_fn, weight_decay,
                        grad_clipping)

  static MuonConfig pytorch() { return {.weight_decay = 0.1}; }  // torch.optim.Muon
};

}  // namespace burn::optim
