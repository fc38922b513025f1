// A model with what trains it.
#pragma once

#include <utility>
#include <vector>

#include "nn/module/module.h"
#include "train/learner/optimizers.h"
#include "train/lr/module_lr.h"
#include "train/optim/module_optimizer.h"

namespace burn::train {

// The optimizer may be given as a configuration, the schedule as a number, a schedule, or one with groups of
// parameters:
//   train::Learner(NetConfig{}.init(device.autodiff()), optim::AdamConfig{}, 1e-3)
// or several optimizers by name, each with parameters and a schedule of its own (train/learner/optimizers.h).
template <Module M>
struct Learner {
  Learner(M model, optim::ModuleOptimizer optimizer, lr::ModuleLrScheduler scheduler)
      : model(std::move(model)), optimizers(std::move(optimizer), std::move(scheduler)) {}
  // Errors (thrown): as the constructor of Optimizers; launch() looks whose each parameter is.
  Learner(M model, const std::vector<NamedOptimizer>& optimizers) : model(std::move(model)), optimizers(optimizers) {}

  M model;
  Optimizers optimizers;
};

}  // namespace burn::train
