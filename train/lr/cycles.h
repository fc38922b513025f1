// Schedules that rise and fall, or fall at given steps. The interface is that of train/lr/schedule.h; formulas and
// names are those of PyTorch's torch.optim.lr_scheduler. Unlike PyTorch's OneCycleLR and CyclicLR, they do not change
// the momentum.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nn/module/config.h"

namespace burn::lr {

enum class Annealing : std::uint8_t { cosine, linear };
constexpr std::array<std::string_view, 2> enum_names(Annealing) { return {"cosine", "linear"}; }

// One rise and one fall over the whole training (Smith and Topin, arXiv:1708.07120; OneCycleLR): from
// max_lr / div_factor to max_lr over the fraction `rising` of the steps, then down to max_lr / div_factor /
// final_div_factor. With three_phases, the way down to max_lr / div_factor takes as many steps as the way up, and the
// rest of the steps lead to the final rate. After the last step the rate is constant.
struct OneCycle {
  double max_lr = 1e-3;
  std::int64_t steps = 2;
  double rising = 0.3;
  Annealing annealing = Annealing::cosine;
  double div_factor = 25;
  double final_div_factor = 1e4;
  bool three_phases = false;
  std::int64_t done = 0;
  BURN_CONFIG(OneCycle, max_lr, steps, rising, annealing, div_factor, final_div_factor, three_phases, done)

  double at(std::int64_t step) const;  // errors also: `rising` not within 0 and 1, a factor that is not positive
  double step() { return at(done++); }
};

// From `initial` to `min_lr` along half a cosine over `steps` steps, repeated, each time over `longer` times as many
// steps (Loshchilov and Hutter, arXiv:1608.03983; CosineAnnealingWarmRestarts).
struct CosineWarmRestarts {
  double initial = 1e-3;
  double min_lr = 0;
  std::int64_t steps = 1;
  std::int64_t longer = 1;
  std::int64_t done = 0;
  BURN_CONFIG(CosineWarmRestarts, initial, min_lr, steps, longer, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

// From `initial` to `final_lr` by (1 - step / steps)^power, then constant (PolynomialLR).
struct Polynomial {
  double initial = 1e-3;
  double final_lr = 0;
  double power = 1;
  std::int64_t steps = 1;
  std::int64_t done = 0;
  BURN_CONFIG(Polynomial, initial, final_lr, power, steps, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

// Multiplied by `gamma` at each of the steps `milestones`, which must be positive and increasing.
struct MultiStep {
  double initial = 1e-3;
  std::vector<std::int64_t> milestones{};
  double gamma = 0.1;
  std::int64_t done = 0;
  BURN_CONFIG(MultiStep, initial, milestones, gamma, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

// The amplitude of the cycles: constant, halved with each cycle, or multiplied by gamma with each step.
enum class CycleRule : std::uint8_t { constant, halving, exponential };
constexpr std::array<std::string_view, 3> enum_names(CycleRule) { return {"constant", "halving", "exponential"}; }

// Rises linearly from `min_lr` to `max_lr` over `steps_up` steps and falls back over `steps_down`, repeated (Smith,
// arXiv:1506.01186; CyclicLR with "triangular", "triangular2", "exp_range").
struct Cyclic {
  double min_lr = 1e-4;
  double max_lr = 1e-3;
  std::int64_t steps_up = 2000;
  std::optional<std::int64_t> steps_down{};  // none: as steps_up
  CycleRule rule = CycleRule::constant;
  double gamma = 1;
  std::int64_t done = 0;
  BURN_CONFIG(Cyclic, min_lr, max_lr, steps_up, steps_down, rule, gamma, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

}  // namespace burn::lr
