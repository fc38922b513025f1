// An optimizer for modules of one type, for use in a training loop:
//
//   auto optim = optim::AdamConfig{}.init<Net>();
//   net = optim.step(1e-3, std::move(net), GradientsParams::from_grads(loss.backward(), net));
#pragma once

#include "train/optim/module_optimizer.h"

namespace burn::optim {

// A value; one thread at a time.
template <Module M>
class Optimizer {
 public:
  explicit Optimizer(ModuleOptimizer engine) : engine_(std::move(engine)) {}
  operator ModuleOptimizer() const { return engine_; }  // NOLINT: what the learner takes

  // Returns the module after one step, which is recorded and sent without waiting. The module is taken by reference,
  // because C++ does not specify which argument is evaluated first: `net` must not be moved from when from_grads reads
  // it. If the step throws (a gradient of another shape or device), module and optimizer are not changed.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
  M step(const lr::ModuleLearningRate& lr, M&& module, GradientsParams gradients, Loc where = Loc::current()) {
    engine_.step(lr, module.walk(), std::move(gradients), at(where));
    return std::move(module);
  }
  // The same, and updates the average of the weights in the same program.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
  M step(const lr::ModuleLearningRate& lr, M&& module, GradientsParams gradients, Average<M>& average,
         Loc where = Loc::current()) {
    engine_.step(lr, module.walk(), std::move(gradients), at(where), &average.engine());
    average.let_go();
    return std::move(module);
  }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
  M step(const lr::ModuleLearningRate& lr, const M& module, GradientsParams gradients, Loc where = Loc::current()) {
    M next = module;
    engine_.step(lr, next.walk(), std::move(gradients), at(where));
    return next;
  }

  Optimizer& with_grad_clipping(const GradientClippingConfig& clipping) {
    engine_.with_grad_clipping(clipping);
    return *this;
  }
  // See ModuleOptimizer::split_state.
  Optimizer& split_state(StateSplit split = {}) {
    engine_.split_state(split);
    return *this;
  }
  // See ModuleOptimizer::with_group.
  Optimizer& with_group(ParamGroup group, const ModuleOptimizer& optimizer) {
    engine_.with_group(std::move(group), optimizer);
    return *this;
  }

  friend void capture_fields(client::CaptureState& state, Optimizer& optimizer) {
    capture_fields(state, optimizer.engine_);
  }

  Record to_record(const M& module) const {
    auto record = engine_.to_record(const_cast<M&>(module).walk());
    record.wait();
    return record;
  }
  void load_record(const M& module, const Record& record) {
    engine_.load_record(const_cast<M&>(module).walk(), record);
  }

 private:
  ModuleOptimizer engine_;
};

}  // namespace burn::optim

// Completes the configuration of an optimizer: lists its fields and declares init(), which the .cc file defines.
// Errors: a number out of range, with its name.
#define BURN_OPTIMIZER_CONFIG(Type, ...)        \
  BURN_CONFIG(Type, __VA_ARGS__)                \
  ::burn::optim::ModuleOptimizer init() const;  \
  template <::burn::Module M>                   \
  ::burn::optim::Optimizer<M> init() const {    \
    return ::burn::optim::Optimizer<M>{init()}; \
  }
