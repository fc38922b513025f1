// Schedules made of schedules. They are schedules themselves, so they nest:
//
//   lr::Sequential warm{{lr::Linear{.initial = 1e-5, .final_lr = 1e-2, .steps = 100}, lr::Cosine{...}}, {100}};
#pragma once

#include <cstdint>
#include <vector>

#include "train/lr/scheduler.h"

namespace burn::lr {

enum class SchedulerReduction : std::uint8_t { avg, sum, prod };

// The rates of several schedules as one: their mean, sum or product.
class Composed {
 public:
  // Errors: no schedule.
  explicit Composed(std::vector<Scheduler> schedulers, SchedulerReduction reduction = SchedulerReduction::prod);

  double at(std::int64_t step) const;
  double step() { return at(done++); }

  std::int64_t done = 0;

 private:
  std::vector<Scheduler> schedulers_;
  SchedulerReduction reduction_;
};

// One schedule after the other: the k-th takes over at step milestones[k - 1], which is its own step 0.
class Sequential {
 public:
  // Errors: no schedule; milestones that are not one fewer than the schedules, positive and rising.
  Sequential(std::vector<Scheduler> schedulers, std::vector<std::int64_t> milestones);

  double at(std::int64_t step) const;
  double step() { return at(done++); }

  std::int64_t done = 0;

 private:
  std::vector<Scheduler> schedulers_;
  std::vector<std::int64_t> milestones_;
};

}  // namespace burn::lr
