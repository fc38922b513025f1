// Learning rates over the steps of a training. Plain values: step() returns the rate of the next step, at(i) that of
// the i-th, counted from 0. to_json() and from_json() store everything, including the number of steps done. Errors
// (thrown) of step() and at(): a rate or factor that is negative, infinite or NaN, with its name.
//
//   lr::Cosine schedule{.initial = 1e-3, .steps = 1000};
//   net = optim.step(schedule.step(), std::move(net), grads);
#pragma once

#include <concepts>
#include <cstdint>

#include "nn/module/config.h"

namespace burn::lr {

// Any type with at(step) -> rate; the learner accepts these.
template <typename T>
concept Schedule = requires(const T& schedule, std::int64_t step) {
  { schedule.at(step) } -> std::convertible_to<double>;
};

// A constant rate.
struct Constant {
  double rate = 1e-3;
  std::int64_t done = 0;
  BURN_CONFIG(Constant, rate, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

// Linear from `initial` to `final_lr` over `steps` steps, then constant.
struct Linear {
  double initial = 1e-3;
  double final_lr = 0;
  std::int64_t steps = 1;
  std::int64_t done = 0;
  BURN_CONFIG(Linear, initial, final_lr, steps, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

// From `initial` to `min_lr` along half a cosine over `steps` steps, and on along the cosine after that.
struct Cosine {
  double initial = 1e-3;
  double min_lr = 0;
  std::int64_t steps = 1;
  std::int64_t done = 0;
  BURN_CONFIG(Cosine, initial, min_lr, steps, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

using CosineAnnealing = Cosine;  // its name in other frameworks

// initial gamma^i
struct Exponential {
  double initial = 1e-3;
  double gamma = 0.9;
  std::int64_t done = 0;
  BURN_CONFIG(Exponential, initial, gamma, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

// Multiplied by `gamma` every `step_size` steps.
struct Step {
  double initial = 1e-3;
  double gamma = 0.1;
  std::int64_t step_size = 1;
  std::int64_t done = 0;
  BURN_CONFIG(Step, initial, gamma, step_size, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

// factor / sqrt(model_size) min(1 / sqrt(i), i / warmup_steps^1.5), with i from 1 ("Attention Is All You Need", 5.3).
struct Noam {
  double factor = 1;
  std::int64_t warmup_steps = 4000;
  std::int64_t model_size = 512;
  std::int64_t done = 0;
  BURN_CONFIG(Noam, factor, warmup_steps, model_size, done)

  double at(std::int64_t step) const;
  double step() { return at(done++); }
};

}  // namespace burn::lr
