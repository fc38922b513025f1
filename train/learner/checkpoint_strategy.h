// When checkpoints of a training are written, and which of them stay. There is one after each epoch; EverySteps and
// EveryTime add others within epochs. Several strategies together keep what any of them wants; the newest checkpoint
// always stays, for a training to go on from.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "train/learner/history.h"

namespace burn::train {

// Those of the last so many epochs.
struct KeepLast {
  std::int64_t epochs = 2;
};

// That of the epoch with the best value of a metric so far, the first one of several.
struct KeepBest {
  std::string metric = "Loss";  // by its name()
  Split split = Split::valid;
};

struct KeepAll {};

// Those of the epochs that a function names, which is called after each epoch. What was not kept once is gone.
struct KeepChosen {
  std::function<std::vector<std::int64_t>(const std::vector<EpochResult>& history)> epochs;
};

// Also within epochs, after each so many steps of the optimizer. The `keep` newest of these stay; when an epoch is
// over, one fewer, as the epoch's own is newer.
struct EverySteps {
  std::int64_t steps = 1000;
  std::int64_t keep = 1;
};

// The same after each so much time: EveryTime{std::chrono::minutes{10}}. The first of a launch comes after its third
// step at the earliest: the steps before it are planned.
struct EveryTime {
  std::chrono::duration<double> interval = std::chrono::minutes{10};
  std::int64_t keep = 1;
};

using CheckpointStrategy = std::variant<KeepLast, KeepBest, KeepAll, KeepChosen, EverySteps, EveryTime>;

// Whether the strategy says which epochs to keep.
bool keeps_epochs(const CheckpointStrategy& strategy);

// Errors: INVALID_ARGUMENT for a metric that is not measured, no epochs to keep, no function, an interval that is not
// positive.
void check(const CheckpointStrategy& strategy, const SplitMetrics& metrics);

// The epochs whose checkpoints are to stay after the last epoch of the history, ascending. Requires: an epoch.
std::vector<std::int64_t> kept_epochs(std::span<const CheckpointStrategy> strategies, const SplitMetrics& metrics,
                                      const std::vector<EpochResult>& history);

// How many checkpoints within epochs are to stay: 0 where none are written.
std::int64_t kept_within_epochs(std::span<const CheckpointStrategy> strategies);

// When the next checkpoint within an epoch is due. One thread.
class CheckpointSchedule {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CheckpointSchedule(std::span<const CheckpointStrategy> strategies);
  // Called once after each step; `steps`: of the run.
  bool is_due(std::int64_t steps, Clock::time_point now = Clock::now());
  // One is written now, for whatever reason: intervals of time begin anew.
  void written(Clock::time_point now = Clock::now()) { last_ = now; }

 private:
  static constexpr std::int64_t kPlannedSteps = 3;  // the first, the one after a snapshot, and all others

  std::vector<std::int64_t> steps_;
  std::vector<std::chrono::duration<double>> intervals_;
  Clock::time_point last_ = Clock::now();
  std::int64_t taken_ = 0;  // steps of this launch
};

}  // namespace burn::train
