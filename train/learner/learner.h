// A model with what trains it.
#pragma once

#include <utility>

#include "train/lr/module_lr.h"
#include "train/optim/module_optimizer.h"

namespace burn::train {

// The optimizer may be given as a configuration, the schedule as a number, a schedule, or one with groups of
// parameters:
//   train::Learner(NetConfig{}.init(device.autodiff()), optim::AdamConfig{}, 1e-3)
template <Module M>
struct Learner {
  Learner(M model, optim::ModuleOptimizer optimizer, lr::ModuleLrScheduler scheduler)
      : model(std::move(model)), optimizer(std::move(optimizer)), scheduler(std::move(scheduler)) {}

  M model;
  optim::ModuleOptimizer optimizer;
  lr::ModuleLrScheduler scheduler;
};

}  // namespace burn::train
