// A model with its optimizers and learning rate schedule.
#pragma once

#include <utility>
#include <vector>

#include "nn/module/module.h"
#include "train/learner/optimizers.h"
#include "train/lr/module_lr.h"
#include "train/optim/module_optimizer.h"

namespace burn::train {

// The optimizer may be a configuration, the schedule a number, a schedule, or a schedule with groups of parameters:
//   train::Learner(NetConfig{}.init(device.autodiff()), optim::AdamConfig{}, 1e-3)
// or several named optimizers, each with its own parameters and schedule (train/learner/optimizers.h).
template <Module M>
struct Learner {
  Learner(M model, optim::ModuleOptimizer optimizer, lr::ModuleLrScheduler scheduler)
      : model(std::move(model)), optimizers(std::move(optimizer), std::move(scheduler)) {}
  // Errors (thrown): as the constructor of Optimizers. launch() assigns the parameters to the optimizers.
  Learner(M model, const std::vector<NamedOptimizer>& optimizers) : model(std::move(model)), optimizers(optimizers) {}

  M model;
  Optimizers optimizers;
};

}  // namespace burn::train
