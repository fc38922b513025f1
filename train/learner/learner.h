// A model with what trains it.
#pragma once

#include <utility>

#include "train/lr/scheduler.h"
#include "train/optim/module_optimizer.h"

namespace burn::train {

// The optimizer may be given as a configuration, the schedule as a number:
//   train::Learner(NetConfig{}.init(device.autodiff()), optim::AdamConfig{}, 1e-3)
template <Module M>
struct Learner {
  Learner(M model, optim::ModuleOptimizer optimizer, lr::Scheduler scheduler)
      : model(std::move(model)), optimizer(std::move(optimizer)), scheduler(std::move(scheduler)) {}

  M model;
  optim::ModuleOptimizer optimizer;
  lr::Scheduler scheduler;
};

}  // namespace burn::train
