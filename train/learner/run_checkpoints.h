// Schedules and writes the checkpoints of one run, and collects the outcomes. Private to train/learner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/writer.h"
#include "train/learner/checkpoint_strategy.h"
#include "train/learner/options.h"

namespace burn::train {

// The store of a training's checkpoints.
CheckpointStore store_of(const TrainingOptions& options);

// Used by the training thread. The constructor's arguments must outlive it.
class RunCheckpoints {
 public:
  // Errors: as check() of the strategies.
  RunCheckpoints(const TrainingOptions& options, const SplitMetrics& metrics, const KeepBest& watched);

  const CheckpointStore& store() const { return store_; }

  // Must be called after each step; returns whether a checkpoint within the epoch must be written now. If another one
  // is still being written, it becomes due after a later step.
  bool is_due(std::int64_t steps);
  void ask() { is_asked_ = true; }  // requests a checkpoint after this step

  // `history`: including the epoch that has ended, for kind `epoch`. `is_snapshot`: the records hold tensors of a
  // device. Returns at once, unless two checkpoints are still to be written.
  void write(CheckpointKind kind, Checkpoint checkpoint, const std::vector<EpochResult>& history, bool is_snapshot);
  // The outcomes since the last call. `wait`: first waits until all are written.
  std::vector<CheckpointWriter::Outcome> take_outcomes(bool wait);
  // Must be called for a failed write. Returns the error that ends the run if this is the third failure in a row.
  std::optional<Error> failed(const CheckpointWriter::Outcome& outcome);
  void succeeded() { failures_in_a_row_ = 0; }

 private:
  static constexpr std::int64_t kMaxFailures = 3;  // in a row; the last one ends the run

  const bool is_on_;
  const SplitMetrics metrics_;
  const CheckpointStore store_;
  std::vector<CheckpointStrategy> strategies_;  // including those that early stopping needs
  CheckpointSchedule schedule_;
  CheckpointWriter writer_;
  bool is_asked_ = false;
  std::int64_t failures_in_a_row_ = 0;
};

}  // namespace burn::train
