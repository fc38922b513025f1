#include "train/learner/run_checkpoints.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace burn::train {

CheckpointStore store_of(const TrainingOptions& options) {
  return options.checkpointer ? CheckpointStore{options.checkpointer} : CheckpointStore{options.artifact_dir};
}

namespace {

std::vector<CheckpointStrategy> strategies_of(const TrainingOptions& options, const KeepBest& watched) {
  if (!options.checkpoints) return {};
  auto strategies = *options.checkpoints;
  const bool is_default = std::ranges::none_of(strategies, keeps_epochs);
  if (is_default) strategies.emplace_back(KeepLast{});
  if (is_default || options.early_stopping) strategies.emplace_back(watched);
  return strategies;
}

}  // namespace

RunCheckpoints::RunCheckpoints(const TrainingOptions& options, const SplitMetrics& metrics, const KeepBest& watched)
    : is_on_(options.checkpoints.has_value()),
      metrics_(metrics),
      store_(store_of(options)),
      strategies_(strategies_of(options, watched)),
      schedule_(strategies_),
      writer_(store_) {
  for (const auto& strategy : strategies_) check(strategy, metrics_);
}

bool RunCheckpoints::is_due(std::int64_t steps) {
  if (!is_on_) return false;
  const bool is_due = schedule_.is_due(steps);
  is_asked_ = is_asked_ || is_due;
  return is_asked_ && writer_.is_idle();
}

void RunCheckpoints::write(CheckpointKind kind, Checkpoint checkpoint, const std::vector<EpochResult>& history,
                           bool is_snapshot) {
  is_asked_ = false;
  schedule_.written();
  CheckpointWriter::Job job{.kind = kind, .checkpoint = std::move(checkpoint), .is_snapshot = is_snapshot};
  job.kept_within_epochs = std::max<std::int64_t>(kept_within_epochs(strategies_), 1);
  if (kind == CheckpointKind::epoch) {
    job.kept_epochs = kept_epochs(strategies_, metrics_, history);
    job.kept_within_epochs -= 1;
  }
  writer_.write(std::move(job));
}

std::vector<CheckpointWriter::Outcome> RunCheckpoints::take_outcomes(bool wait) {
  if (wait) writer_.wait();
  return writer_.take_outcomes();
}

std::optional<Error> RunCheckpoints::failed(const CheckpointWriter::Outcome& outcome) {
  if (++failures_in_a_row_ < kMaxFailures) return std::nullopt;
  return Error{StatusCode::unavailable, fmt::format("the training ends, as {} checkpoints in a row could not be "
                                                    "written; the last, {}: {}",
                                                    failures_in_a_row_, outcome.name, outcome.failure)};
}

}  // namespace burn::train
