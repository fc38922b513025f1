// Suggests an initial learning rate by a range test (Smith, arXiv:1506.01186): trains a copy of the model while the
// rate increases from step to step, and selects the rate at which the loss fell fastest.
//
//   const auto found = train::find_lr(net, optim::AdamConfig{}, loader);
//   train::Learner(net, optim::AdamConfig{}, found.suggestion);
#pragma once

#include <cstdint>
#include <vector>

#include "data/loader.h"
#include "nn/module/config.h"
#include "train/learner/output.h"
#include "train/optim/module_optimizer.h"

namespace burn::train {

struct FindLrOptions {
  double first = 1e-7, last = 10;  // the rates of the first and the last step; they form a geometric sequence
  std::int64_t steps = 100;
  double smoothing = 0.95;    // decay of the running mean of the losses; 0: no smoothing
  double stop_factor = 4;     // ends when the smoothed loss exceeds its minimum by this factor
  std::int64_t skipped = 10;  // first steps to ignore, whose losses are not stable yet
  BURN_CONFIG(FindLrOptions, first, last, steps, smoothing, stop_factor, skipped)
};

struct FoundLr {
  double suggestion = 0;
  std::vector<double> rates, losses;  // of each step; losses are smoothed
  bool ended_early = false;           // by stop_factor, or by a loss that is infinite or NaN
};

namespace detail {

// The range test without the model.
class LrRangeTest {
 public:
  explicit LrRangeTest(const FindLrOptions& options);  // Errors (thrown): numbers out of range, by their name.
  bool is_over() const { return is_over_; }
  double rate() const;     // rate of the next step
  void add(double loss);   // loss of that step, before its update
  FoundLr result() const;  // Errors (thrown): fewer than two losses after the skipped ones.

 private:
  const FindLrOptions options_;
  FoundLr found_;
  double mean_ = 0, lowest_ = 0;
  bool is_over_ = false;
};

}  // namespace detail

// Does not change `model` and `optimizer`; restarts the loader when it ends. Waits for the loss of each step. Takes
// random numbers (dropout) from the device's stream. Errors (thrown): options out of range; a loader without batches; a
// loss that is not finite before a rate can be suggested; any exception of a step.
template <Module M, typename Batch>
  requires TrainableOn<M, Batch>
FoundLr find_lr(const M& model, const optim::ModuleOptimizer& optimizer, const data::DataLoader<Batch>& loader,
                const FindLrOptions& options = {}) {
  detail::LrRangeTest test{options};
  if (loader.size() == 0) throw Error(StatusCode::invalid_argument, "find_lr: the loader has no batch");
  M copy = model;
  optim::ModuleOptimizer steps = optimizer;
  for (std::size_t epoch = 0; !test.is_over(); ++epoch) {
    for (auto batches = loader.start(epoch); batches != std::default_sentinel && !test.is_over(); ++batches) {
      const Tensor<1> loss{copy.step(*batches).step_output().loss};
      auto gradients = optim::GradientsParams::from_grads(loss.backward(), copy);
      const auto number = loss.detach();
      steps.step(test.rate(), copy.walk(), std::move(gradients));
      test.add(number.item());
    }
  }
  return test.result();
}

}  // namespace burn::train
