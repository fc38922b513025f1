// Learning rates that differ between the parameters of a module.
//
//   lr::ModuleLrScheduler schedule{lr::Cosine{.initial = 1e-3, .steps = 1000}};
//   schedule.with_group(ParamGroup::from_path("head"), lr::Constant{.rate = 1e-2});
//   net = optim.step(schedule.step(), std::move(net), grads);
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "client/scalar.h"
#include "nn/module/param_group.h"
#include "train/lr/scheduler.h"

namespace burn::lr {

// The rates of one step, as an optimizer's step() takes them; it rejects negative, infinite and NaN rates. A number is
// the rate of every parameter. A parameter at several places of its module must be in the same group by each of its
// paths.
class ModuleLearningRate {
 public:
  ModuleLearningRate(Scalar base) : base_(base) {}  // NOLINT: implicit on purpose
  template <Arithmetic T>
  ModuleLearningRate(T base) : base_(base) {}  // NOLINT: implicit on purpose

  // Sets another rate for the parameters of a group, which overrides those of earlier groups.
  ModuleLearningRate& with_group(ParamGroup group, Scalar rate);
  Scalar base() const { return base_; }
  bool has_groups() const { return !groups_.empty(); }
  std::size_t group_count() const { return groups_.size(); }
  // The last group that contains the parameter, counted from 1; 0: none, it has the base rate.
  std::size_t group_of_param(ParamId id, std::string_view path) const;
  Scalar rate_of_group(std::size_t group) const { return group == 0 ? base_ : groups_[group - 1].second; }
  Scalar lr_from_param(ParamId id, std::string_view path) const { return rate_of_group(group_of_param(id, path)); }

 private:
  Scalar base_;
  std::vector<std::pair<ParamGroup, Scalar>> groups_;
};

// A schedule for all parameters, and others for groups of them; a parameter follows the last group that contains it. A
// value; one thread at a time.
class ModuleLrScheduler {
 public:
  // A scheduler, a schedule, or a number: the rate of every parameter.
  template <typename S>
    requires std::convertible_to<S, Scheduler>
  ModuleLrScheduler(S base) : base_(std::move(base)) {}  // NOLINT: implicit on purpose
  ModuleLrScheduler& with_group(ParamGroup group, Scheduler scheduler);

  ModuleLearningRate step();                    // the rates of the next step
  double last() const { return base_.last(); }  // base rate of the last step

  // Whether a schedule follows a metric, which must then be passed to tell() (Scheduler::tell).
  bool needs_metric() const;
  void tell(double metric);

  // The state of all schedules as JSON; the schedules themselves and their groups are not stored. Without groups it is
  // the record of the base schedule. Errors (thrown), without changing anything: a text that is not such a record; a
  // record with another number of groups.
  std::string to_record() const;
  void load_record(const std::string& json);

 private:
  Scheduler base_;
  std::vector<std::pair<ParamGroup, Scheduler>> groups_;
};

}  // namespace burn::lr
