// Schedules made of schedules. They are schedules themselves, so they nest:
//
//   lr::Scheduler schedule = lr::warmup(500, lr::Cosine{.initial = 1e-3, .steps = 10'000});
//   lr::Sequential parts{{lr::Linear{.initial = 1e-5, .final_lr = 1e-2, .steps = 100}, lr::Cosine{...}}, {100}};
//
// A metric passed to tell() (train/lr/plateau.h) is forwarded to the schedules that they are made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/lr/scheduler.h"

namespace burn::lr {

enum class SchedulerReduction : std::uint8_t { avg, sum, prod };

// Combines the rates of several schedules: their mean, sum or product.
class Composed {
 public:
  // Errors: no schedule.
  explicit Composed(std::vector<Scheduler> schedulers, SchedulerReduction reduction = SchedulerReduction::prod);

  double at(std::int64_t step) const;
  double step() { return at(done++); }

  bool needs_metric() const;
  void tell(double metric);
  std::string state_record() const;
  void load_state_record(const std::string& json);

  std::int64_t done = 0;

 private:
  std::vector<Scheduler> schedulers_;
  SchedulerReduction reduction_;
};

// One schedule after the other: the k-th takes over at step milestones[k - 1], which is its own step 0.
class Sequential {
 public:
  // Errors: no schedule; milestones that are not positive and increasing, or not one fewer than the schedules.
  Sequential(std::vector<Scheduler> schedulers, std::vector<std::int64_t> milestones);

  double at(std::int64_t step) const;
  double step() { return at(done++); }

  bool needs_metric() const;
  void tell(double metric, std::int64_t steps);  // for the schedule of the last of `steps` steps
  std::string state_record() const;
  void load_state_record(const std::string& json);

  std::int64_t done = 0;

 private:
  std::size_t which(std::int64_t step) const;

  std::vector<Scheduler> schedulers_;
  std::vector<std::int64_t> milestones_;
};

// Delays a schedule by `steps` steps, during which the rate rises linearly to that of the schedule's step 0: the i-th
// step, counted from 0, has (i + 1) / (steps + 1) of it.
class Warmup {
 public:
  // Errors: a negative count.
  Warmup(std::int64_t steps, Scheduler schedule);

  double at(std::int64_t step) const;
  double step() { return at(done++); }

  bool needs_metric() const { return schedule_.needs_metric(); }
  void tell(double metric, std::int64_t steps);  // ignored while the rate rises
  std::string state_record() const { return schedule_.to_record(); }
  void load_state_record(const std::string& json) { schedule_.load_record(json); }

  std::int64_t done = 0;

 private:
  std::int64_t steps_;
  Scheduler schedule_;
};
inline Warmup warmup(std::int64_t steps, Scheduler schedule) { return {steps, std::move(schedule)}; }

}  // namespace burn::lr
