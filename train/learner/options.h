// How a training is to go, and how it ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "autodiff/checkpointing.h"
#include "client/where.h"
#include "ir/types/dtype.h"
#include "train/checkpoint/checkpointer.h"
#include "train/events/event_stream.h"
#include "train/learner/callback.h"
#include "train/learner/checkpoint_strategy.h"
#include "train/learner/early_stopping.h"
#include "train/learner/interrupter.h"
#include "train/learner/profile.h"
#include "train/metric/metric_set.h"
#include "train/optim/ema.h"
#include "train/optim/grad_scaler.h"
#include "train/render/renderer.h"
#include "train/strategy/strategy.h"

namespace burn::train {

// resume(latest): from the checkpoint written last.
struct Latest {};
inline constexpr Latest latest;
struct LatestIfAny {};
inline constexpr LatestIfAny latest_if_any;

struct Resume {
  std::optional<std::int64_t> epoch = {};  // none: the latest
  bool may_start = false;                  // where there is no checkpoint the training starts instead
};

// What several batches of one step (grads_accumulation) are to their gradients.
enum class Reduction : std::uint8_t { mean, sum };

// What follows from a loss that is infinite or NaN: a message, once; the same as an error that ends the training; a
// step that changes nothing, with a message, once; nothing.
enum class OnNan : std::uint8_t { warn, stop, skip, go_on };

struct TrainingOptions {
  std::filesystem::path artifact_dir;

  // How long.
  std::int64_t epochs = 1;
  std::optional<std::int64_t> max_steps;                             // of the optimizer, since the run began
  std::optional<std::chrono::duration<double>> max_time;             // of this launch
  std::optional<std::int64_t> max_train_batches, max_valid_batches;  // of each pass
  std::optional<std::int64_t> validate_every;                        // steps; none: at the end of each epoch only
  bool dry_run = false;
  std::optional<EarlyStopping> early_stopping;
  std::vector<StopRule> stop_rules;
  Interrupter interrupter;

  // What is measured, shown and kept. Of a split without metrics: the loss.
  std::vector<metric::MetricFactory> train_metrics, valid_metrics;
  bool summary = false, profile = false;
  std::shared_ptr<Renderer> renderer;  // none: on stdout
  std::vector<std::shared_ptr<events::EventSink>> loggers;
  std::optional<std::string> dashboard;                  // where one for browsers is served: "127.0.0.1:6006"
  std::string dashboard_token;                           // empty: one is made where one is needed
  std::vector<events::EventStream::Observer> observers;  // on the thread that trains
  std::vector<std::shared_ptr<Callback>> callbacks;
  // None: no checkpoints are written. Without a word about which epochs to keep: the last two and the best one, as
  // watched_metric() says.
  std::optional<std::vector<CheckpointStrategy>> checkpoints = std::vector<CheckpointStrategy>{};
  std::shared_ptr<Checkpointer> checkpointer;  // none: files in artifact_dir
  std::optional<Resume> resume;

  // A step.
  std::optional<std::uint64_t> seed;  // none: that of the device
  std::int64_t grads_accumulation = 1;
  Reduction accumulation = Reduction::mean;
  GradientCheckpointingStrategy checkpointing = GradientCheckpointingStrategy::disabled;
  std::optional<ir::DType> autocast;
  std::optional<optim::GradScalerConfig> grad_scaler;
  std::optional<double> clip_norm;
  std::optional<optim::ModuleAverage> average;  // as it is before the first step
  OnNan on_nan = OnNan::warn;
  // More steps than this that fail one after the other, by an index outside a table or for want of memory, end the
  // training with their error. Fewer are skipped and counted: a failed step changes nothing.
  std::int64_t max_failures_in_a_row = 10;
  Strategy strategy;  // none: single()

  ir::CallSite site;  // where launch() was called
};

// Errors: INVALID_ARGUMENT for a number that is out of range, by the name of its setting.
void check(const TrainingOptions& options);

// The metric by which an epoch is the best of a training: that of early stopping, else that of the first KeepBest, else
// "Loss" if it is measured, else the first metric; these on the validation split, or in training where nothing is
// validated.
KeepBest watched_metric(const TrainingOptions& options, const SplitMetrics& metrics);

// The epoch with the best value of the watched metric.
struct BestEpoch {
  std::int64_t epoch = 0;
  double value = 0;
  KeepBest by;           // the metric
  bool is_last = false;  // the trained model is as it was after this epoch
  // The model's record. Errors: NOT_FOUND when no strategy has kept it, or when the folder is not there any more.
  std::function<Record()> record;
};

enum class StopReason : std::uint8_t {
  completed,      // all epochs, or max_steps
  stopped_early,  // by early stopping, a rule, or a callback
  interrupted,    // by the interrupter, or as a worker has announced that it ends
  time_is_up,     // max_time
};

struct TrainingReport {
  StopReason reason = StopReason::completed;
  std::vector<std::string> metrics;        // of training; their names, as in the results
  std::vector<std::string> valid_metrics;  // of validation; the same, unless they were named by split
  std::vector<EpochResult> history;        // of all epochs, those before a resume included
  std::vector<StepResult> validations;     // within epochs, since a resume
  bool drained = false;                    // interrupted as a worker has announced that it ends
  std::int64_t steps = 0;                  // of the optimizer, those before a resume included
  std::int64_t skipped = 0;                // steps of training that failed and changed nothing, since a resume
  std::optional<BestEpoch> best;           // none before the end of an epoch
  std::shared_ptr<const Record> averages;  // with ema(): the model's record with them in place of the weights
  Profile profile;                         // where the time of this launch went
};

}  // namespace burn::train
