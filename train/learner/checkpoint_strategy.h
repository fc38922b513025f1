// When checkpoints of a training are written, and which of them are kept. One is written after each epoch; EverySteps
// and EveryTime add others within epochs. With several strategies, a checkpoint is kept if any of them keeps it; the
// newest is always kept, so that the training can be resumed.
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

// Keeps the checkpoints of the last `epochs` epochs.
struct KeepLast {
  std::int64_t epochs = 2;
};

// Keeps the checkpoint of the epoch with the best value of a metric so far; of equal values the first.
struct KeepBest {
  std::string metric = "Loss";  // the metric's name()
  Split split = Split::valid;
};

struct KeepAll {};

// Keeps the checkpoints of the epochs that a function returns; it is called after each epoch. A checkpoint that was
// removed cannot be kept later.
struct KeepChosen {
  std::function<std::vector<std::int64_t>(const std::vector<EpochResult>& history)> epochs;
};

// Also writes checkpoints within epochs, after every `steps` optimizer steps. The newest `keep` of these are kept;
// after the end of an epoch one fewer, as the epoch's own checkpoint is newer.
struct EverySteps {
  std::int64_t steps = 1000;
  std::int64_t keep = 1;
};

// The same at time intervals: EveryTime{std::chrono::minutes{10}}. The first checkpoint of a launch is written after
// its third step at the earliest, as the steps until then are being planned.
struct EveryTime {
  std::chrono::duration<double> interval = std::chrono::minutes{10};
  std::int64_t keep = 1;
};

using CheckpointStrategy = std::variant<KeepLast, KeepBest, KeepAll, KeepChosen, EverySteps, EveryTime>;

// Whether the strategy selects epochs to keep.
bool keeps_epochs(const CheckpointStrategy& strategy);

// Errors: INVALID_ARGUMENT for a metric that is not measured, no epochs to keep, no function, an interval that is not
// positive.
void check(const CheckpointStrategy& strategy, const SplitMetrics& metrics);

// The epochs whose checkpoints are kept after the last epoch of the history, ascending. Requires: a history with an
// epoch.
std::vector<std::int64_t> kept_epochs(std::span<const CheckpointStrategy> strategies, const SplitMetrics& metrics,
                                      const std::vector<EpochResult>& history);

// How many checkpoints within epochs are kept; 0 if none are written.
std::int64_t kept_within_epochs(std::span<const CheckpointStrategy> strategies);

// Decides when the next checkpoint within an epoch is due. One thread.
class CheckpointSchedule {
 public:
  using Clock = std::chrono::steady_clock;

  explicit CheckpointSchedule(std::span<const CheckpointStrategy> strategies);
  // Must be called once after each step. `steps`: steps of the run so far.
  bool is_due(std::int64_t steps, Clock::time_point now = Clock::now());
  // A checkpoint is being written, for any reason: restarts the time intervals.
  void written(Clock::time_point now = Clock::now()) { last_ = now; }

 private:
  static constexpr std::int64_t kPlannedSteps = 3;  // programs: first step, step after a snapshot, all others

  std::vector<std::int64_t> steps_;
  std::vector<std::chrono::duration<double>> intervals_;
  Clock::time_point last_ = Clock::now();
  std::int64_t taken_ = 0;  // steps of this launch
};

}  // namespace burn::train
