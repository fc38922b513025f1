// The optimizers of a training: one for all parameters, or several by name, each with parameters and a schedule of its
// own.
//
//   train::Learner(gan, {{"critic", ParamGroup::from_path("critic"), optim::RmsPropConfig{}, 5e-5},
//                        {"generator", ParamGroup::from_path("generator"), optim::RmsPropConfig{}, 5e-5}})
//
// A model may say which of them take a step, and change what they are given, in a function of this form, called
// between the gradients and the step:
//
//   void optimize(lr::ModuleLearningRate& rates, GradientsParams& gradients, train::OptimizerChoice& choice) const {
//     if (choice.batch() % 5 != 0) choice.skip("generator");
//   }
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "nn/module/param_group.h"
#include "train/lr/module_lr.h"
#include "train/optim/module_optimizer.h"

namespace burn::train {

struct NamedOptimizer {
  std::string name;
  ParamGroup parameters;
  optim::ModuleOptimizer optimizer;
  lr::Scheduler schedule;
};

// Which optimizers take a step with the gradients at hand. All do, unless they are skipped.
class OptimizerChoice {
 public:
  OptimizerChoice(const std::vector<std::string>& names, std::int64_t updates)
      : names_(&names), updates_(updates), skipped_(names.size()) {}

  const std::vector<std::string>& names() const { return *names_; }  // none where there is one optimizer without a name
  // How often gradients have been handed to the optimizers since the run began, before this time; batches, unless
  // gradients are accumulated.
  std::int64_t batch() const { return updates_; }
  // Errors (thrown): no optimizer of that name, with those that there are.
  void skip(const std::string& name);
  bool is_skipped(std::size_t optimizer) const { return skipped_[optimizer]; }

 private:
  const std::vector<std::string>* names_;
  std::int64_t updates_;
  std::vector<bool> skipped_;
};

// A value; one thread at a time.
class Optimizers {
 public:
  Optimizers(optim::ModuleOptimizer optimizer, lr::ModuleLrScheduler scheduler)
      : optimizer_(std::move(optimizer)), scheduler_(std::move(scheduler)) {}
  // Errors (thrown): none; a name twice or without letters; one that has groups of its own or has taken a step.
  explicit Optimizers(const std::vector<NamedOptimizer>& optimizers);

  const std::vector<std::string>& names() const { return names_; }
  // All of them as one, which steps every parameter by the rule of its optimizer.
  optim::ModuleOptimizer& optimizer() { return optimizer_; }
  const optim::ModuleOptimizer& optimizer() const { return optimizer_; }

  // Looks up whose each parameter is. Errors (thrown), where there are names: a parameter that is trained and in no
  // group or in two, by its path; an optimizer without a parameter.
  void assign(const nn::ModuleWalk& model);

  // The rates of the next step. Those that have a name do not move on before stepped().
  lr::ModuleLearningRate rates();
  // Takes the gradients of the optimizers that are skipped away.
  void leave_out(const OptimizerChoice& choice, optim::GradientsParams& gradients) const;
  void stepped(const OptimizerChoice& choice);
  double last_rate() const;  // of the first
  // Of the schedules that follow a metric (lr::Scheduler::tell).
  bool needs_metric() const;
  void tell(double metric);

  // Where the schedules are, as JSON. Errors (thrown) of loading: other names, text that is no such record.
  std::string to_record() const;
  void load_record(const std::string& json);

 private:
  optim::ModuleOptimizer optimizer_;
  lr::ModuleLrScheduler scheduler_;  // without names
  std::vector<std::string> names_;
  std::vector<ParamGroup> groups_;
  std::vector<lr::Scheduler> schedules_;
  std::map<ParamId, std::size_t> owner_;  // of the parameters, which optimizer
};

}  // namespace burn::train
