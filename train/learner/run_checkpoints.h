// The checkpoints of one run: when they are due, what is written of them, and what becomes of it. Private to
// train/learner.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/writer.h"
#include "train/learner/checkpoint_strategy.h"
#include "train/learner/options.h"

namespace burn::train {

// Where the checkpoints of a training are.
CheckpointStore store_of(const TrainingOptions& options);

// Used by the thread that trains. What it is given outlives it.
class RunCheckpoints {
 public:
  // Errors: as check() of the strategies.
  RunCheckpoints(const TrainingOptions& options, const SplitMetrics& metrics, const KeepBest& watched);

  const CheckpointStore& store() const { return store_; }

  // After a step: whether one within the epoch is to be written now. One that is due while another is still being
  // written is due again after the next step.
  bool is_due(std::int64_t steps);
  void ask() { is_asked_ = true; }  // for one after this step

  // `history`: with the epoch that is over, if the checkpoint is that of an epoch. `is_snapshot`: its records hold
  // tensors of a device. Returns at once, unless two are still to be written.
  void write(CheckpointKind kind, Checkpoint checkpoint, const std::vector<EpochResult>& history, bool is_snapshot);
  // What has become of them since the last call. `wait`: until all are written.
  std::vector<CheckpointWriter::Outcome> take_outcomes(bool wait);
  // Of one that could not be written: the error that ends the run, where this is the third in a row.
  std::optional<Error> failed(const CheckpointWriter::Outcome& outcome);
  void succeeded() { failures_in_a_row_ = 0; }

 private:
  static constexpr std::int64_t kMaxFailures = 3;  // in a row: the last of them ends the run

  const bool is_on_;
  const SplitMetrics metrics_;
  const CheckpointStore store_;
  std::vector<CheckpointStrategy> strategies_;  // with what early stopping needs
  CheckpointSchedule schedule_;
  CheckpointWriter writer_;
  bool is_asked_ = false;
  std::int64_t failures_in_a_row_ = 0;
};

}  // namespace burn::train
