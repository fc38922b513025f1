// The options of a training, and the report of its end.
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

// resume(latest): resumes from the newest checkpoint.
struct Latest {};
inline constexpr Latest latest;
struct LatestIfAny {};
inline constexpr LatestIfAny latest_if_any;

struct Resume {
  std::optional<std::int64_t> epoch = {};  // none: the latest
  bool may_start = false;                  // starts a new training if there is no checkpoint
};

// How the gradients of several batches of one step (grads_accumulation) are combined.
enum class Reduction : std::uint8_t { mean, sum };

// What an infinite or NaN loss causes. warn: one message; stop: an error that ends the training; skip: the step has no
// effect, with one message; go_on: nothing.
enum class OnNan : std::uint8_t { warn, stop, skip, go_on };

struct TrainingOptions {
  std::filesystem::path artifact_dir;

  // Duration.
  std::int64_t epochs = 1;
  std::optional<std::int64_t> max_steps;                             // optimizer steps since the run began
  std::optional<std::chrono::duration<double>> max_time;             // duration of this launch
  std::optional<std::int64_t> max_train_batches, max_valid_batches;  // per pass
  std::optional<std::int64_t> validate_every;                        // steps; none: at the end of each epoch only
  bool dry_run = false;
  std::optional<EarlyStopping> early_stopping;
  std::vector<StopRule> stop_rules;
  Interrupter interrupter;

  // Metrics, display and checkpoints. A split without metrics measures the loss.
  std::vector<metric::MetricFactory> train_metrics, valid_metrics;
  bool summary = false, profile = false;
  std::shared_ptr<Renderer> renderer;  // none: on stdout
  std::vector<std::shared_ptr<events::EventSink>> loggers;
  std::optional<std::string> dashboard;                  // address of the browser's dashboard: "127.0.0.1:6006"
  std::string dashboard_token;                           // empty: generated if one is required
  std::vector<events::EventStream::Observer> observers;  // called by the training thread
  std::vector<std::shared_ptr<Callback>> callbacks;
  // None: no checkpoints are written. If no strategy selects epochs: keeps the last two and the best one by
  // watched_metric().
  std::optional<std::vector<CheckpointStrategy>> checkpoints = std::vector<CheckpointStrategy>{};
  std::shared_ptr<Checkpointer> checkpointer;  // none: files in artifact_dir
  std::optional<Resume> resume;

  // The training step.
  std::optional<std::uint64_t> seed;  // none: the device's seed
  std::int64_t grads_accumulation = 1;
  Reduction accumulation = Reduction::mean;
  GradientCheckpointingStrategy checkpointing = GradientCheckpointingStrategy::disabled;
  std::optional<ir::DType> autocast;
  std::optional<optim::GradScalerConfig> grad_scaler;
  std::optional<double> clip_norm;
  std::optional<optim::ModuleAverage> average;  // in its initial state, before the first step
  OnNan on_nan = OnNan::warn;
  // If more successive steps than this fail, because of an index outside a table or lack of memory, the training ends
  // with the last error. Otherwise failed steps are skipped and counted: they have no effect.
  std::int64_t max_failures_in_a_row = 10;
  Strategy strategy;  // none: single()

  ir::CallSite site;  // call site of launch()
};

// Errors: INVALID_ARGUMENT for a number out of range, with the name of its setting.
void check(const TrainingOptions& options);

// The metric that decides which epoch is the best: that of early stopping, else that of the first KeepBest, else "Loss"
// if it is measured, else the first metric; the last two on the validation split, or on the training split if there is
// no validation.
KeepBest watched_metric(const TrainingOptions& options, const SplitMetrics& metrics);

// The epoch with the best value of the watched metric.
struct BestEpoch {
  std::int64_t epoch = 0;
  double value = 0;
  KeepBest by;           // the metric
  bool is_last = false;  // the trained model is that of this epoch
  // Loads the model's record. Errors: NOT_FOUND if no strategy has kept it, or the folder no longer exists.
  std::function<Record()> record;
};

enum class StopReason : std::uint8_t {
  completed,      // all epochs, or max_steps
  stopped_early,  // by early stopping, a rule, or a callback
  interrupted,    // by the interrupter, or because a worker has announced its end
  time_is_up,     // max_time
};

struct TrainingReport {
  StopReason reason = StopReason::completed;
  std::vector<std::string> metrics;        // names of the training metrics, as in the results
  std::vector<std::string> valid_metrics;  // of the validation metrics; the same, unless set per split
  std::vector<EpochResult> history;        // all epochs, including those before a resume
  std::vector<StepResult> validations;     // those within epochs, since the last resume
  bool drained = false;                    // interrupted because a worker has announced its end
  std::int64_t steps = 0;                  // optimizer steps, including those before a resume
  std::int64_t skipped = 0;                // failed training steps, which had no effect, since the last resume
  std::optional<BestEpoch> best;           // none before the end of the first epoch
  std::shared_ptr<const Record> averages;  // with ema(): the model's record with averages in place of weights
  Profile profile;                         // time spent in this launch, by phase
};

}  // namespace burn::train
