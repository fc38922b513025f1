// The optimizers of a training: one for all parameters, or several by name, each with its own parameters and schedule.
//
//   train::Learner(gan, {{"critic", ParamGroup::from_path("critic"), optim::RmsPropConfig{}, 5e-5},
//                        {"generator", ParamGroup::from_path("generator"), optim::RmsPropConfig{}, 5e-5}})
//
// A model may choose which of them take a step, and change their rates and gradients, in a function of this form,
// called between backward pass and step:
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

// Which optimizers take a step with the current gradients: all that are not skipped.
class OptimizerChoice {
 public:
  OptimizerChoice(const std::vector<std::string>& names, std::int64_t updates)
      : names_(&names), updates_(updates), skipped_(names.size()) {}

  const std::vector<std::string>& names() const { return *names_; }  // empty for a single optimizer without a name
  // How often gradients have been passed to the optimizers since the run began, not counting this time. This is the
  // number of batches, unless gradients are accumulated.
  std::int64_t batch() const { return updates_; }
  // Errors (thrown): no optimizer of that name; the message lists the names.
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
  // Errors (thrown): an empty list; an empty or repeated name; an optimizer that has groups itself or
  // has taken a step.
  explicit Optimizers(const std::vector<NamedOptimizer>& optimizers);

  const std::vector<std::string>& names() const { return names_; }
  // All of them combined into one, which updates every parameter by the rule of its optimizer.
  optim::ModuleOptimizer& optimizer() { return optimizer_; }
  const optim::ModuleOptimizer& optimizer() const { return optimizer_; }

  // Determines the optimizer of each parameter. Errors (thrown), if there are names: a trained parameter in no group or
  // in two, with its path; an optimizer without a parameter.
  void assign(const nn::ModuleWalk& model);

  // The rates of the next step. The schedules of named optimizers advance in stepped().
  lr::ModuleLearningRate rates();
  // Removes the gradients of the skipped optimizers.
  void drop_skipped(const OptimizerChoice& choice, optim::GradientsParams& gradients) const;
  void stepped(const OptimizerChoice& choice);
  double last_rate() const;  // of the first optimizer
  // Whether a schedule follows a metric, which is then passed to tell() (lr::Scheduler::tell).
  bool needs_metric() const;
  void tell(double metric);

  // The state of the schedules as JSON. Errors (thrown) of loading: other names, a text that is not such a record.
  std::string to_record() const;
  void load_record(const std::string& json);

 private:
  optim::ModuleOptimizer optimizer_;
  lr::ModuleLrScheduler scheduler_;  // used if there are no names
  std::vector<std::string> names_;
  std::vector<ParamGroup> groups_;
  std::vector<lr::Scheduler> schedules_;
  std::map<ParamId, std::size_t> owner_;  // index of each parameter's optimizer
};

}  // namespace burn::train
