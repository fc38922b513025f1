// How a training is to go, and how it ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "autodiff/checkpointing.h"
#include "client/where.h"
#include "train/checkpoint/strategy.h"
#include "train/events/event_stream.h"
#include "train/learner/early_stopping.h"
#include "train/learner/interrupter.h"
#include "train/metric/metric_set.h"
#include "train/render/renderer.h"
#include "train/strategy/strategy.h"

namespace burn::train {

// resume(latest): from the checkpoint written last.
struct Latest {};
inline constexpr Latest latest;

struct Resume {
  std::optional<std::int64_t> epoch;  // none: the latest
};

struct TrainingOptions {
  std::filesystem::path artifact_dir;
  std::int64_t epochs = 1;
  std::vector<metric::MetricFactory> metrics;  // none: the loss
  // None: no checkpoints are written. An empty list: the last two epochs and the best one, as watched_metric() says.
  std::optional<std::vector<CheckpointStrategy>> checkpoints = std::vector<CheckpointStrategy>{};
  std::optional<EarlyStopping> early_stopping;
  std::optional<Resume> resume;
  std::optional<std::uint64_t> seed;  // none: that of the device
  std::int64_t grads_accumulation = 1;
  GradientCheckpointingStrategy checkpointing = GradientCheckpointingStrategy::disabled;
  // More steps than this that fail one after the other, by an index outside a table or for want of memory, end the
  // training with their error. Fewer are skipped and counted: a failed step changes nothing.
  std::int64_t max_failures_in_a_row = 10;
  Strategy strategy;  // none: single()
  bool summary = false;
  std::shared_ptr<Renderer> renderer;  // none: on stdout
  std::vector<std::shared_ptr<events::EventSink>> loggers;
  std::vector<events::EventStream::Observer> observers;  // on the thread that trains
  Interrupter interrupter;
  ir::CallSite site;  // where launch() was called
};

// The metric by which an epoch is the best of a training: that of early stopping, else that of the first KeepBest, else
// "Loss" if it is measured, else the first metric; these on the validation split.
KeepBest watched_metric(const TrainingOptions& options, const metric::MetricSet& metrics);

// The epoch with the best value of the watched metric.
struct BestEpoch {
  std::int64_t epoch = 0;
  double value = 0;
  KeepBest by;           // the metric
  bool is_last = false;  // the trained model is as it was after this epoch
  // The model's record. Errors: NOT_FOUND when no strategy has kept it, or when the folder is not there any more.
  std::function<Record()> record;
};

enum class StopReason { completed, stopped_early, interrupted };

struct TrainingReport {
  StopReason reason = StopReason::completed;
  std::vector<std::string> metrics;  // their names, as in the results
  std::vector<EpochResult> history;  // of all epochs, those before a resume included
  std::int64_t skipped = 0;          // steps of training that failed and changed nothing, since a resume
  std::optional<BestEpoch> best;     // none before the end of an epoch
};

}  // namespace burn::train
