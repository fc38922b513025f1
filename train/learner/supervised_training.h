// Training a model on labelled data:
//
//   auto training = train::SupervisedTraining(artifact_dir, train_loader, valid_loader)
//                       .metrics(metric::Accuracy{}, metric::Loss{})
//                       .checkpoints(train::KeepLast{2}, train::KeepBest{.metric = "Loss"})
//                       .early_stopping({.metric = "Loss", .split = train::Split::valid, .patience = 3})
//                       .epochs(10)
//                       .summary();
//   auto result = training.launch(train::Learner(NetConfig{}.init(device), optim::AdamConfig{}, 1e-3));
//   result.best().model;  // the model after the epoch with the best loss; result.model: after the last
//
// The model has `step(const Batch&) const`, which returns one of the outputs of train/learner/output.h. It is called on
// the model itself to train and on model.valid() to validate; define `train_step` and `valid_step` instead if the two
// differ. See docs/training.md for all details.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "train/learner/batch_recording.h"
#include "train/learner/launch.h"
#include "train/learner/learner.h"
#include "train/learner/typed_work.h"

namespace burn::train {

// The model after the best epoch.
template <Module M>
struct BestModel {
  std::int64_t epoch = 0;
  double value = 0;  // value of the watched metric
  M model;           // on the device of the trained model
};

// Exit status of a program that may succeed if it is started again (EX_TEMPFAIL of sysexits.h).
inline constexpr int kTryAgain = 75;

template <Module M>
struct TrainingResult {
  M model;  // after the last step
  TrainingReport report;

  bool interrupted() const { return report.reason == StopReason::interrupted; }
  // Whether the training was interrupted because a worker has announced its end. It should be started again and
  // resumed, on another worker, or when that worker has been replaced. By convention such a program exits with status
  // 75 (kTryAgain).
  bool drained() const { return report.drained; }

  // The best model by watched_metric(). Early stopping, KeepBest and the default strategy keep the best epoch. It is
  // read from the training's folder, which must still exist and not have been used by another training. With ema() the
  // model has the averages, which were validated.
  // Errors: NOT_FOUND if no epoch is complete, or the best one, which is named, was not kept.
  BestModel<M> best() const {
    if (!report.best) throw Error(StatusCode::not_found, "the best epoch: none is over");
    const auto& [epoch, value, by, is_last, record] = *report.best;
    return {epoch, value, is_last ? model : model.load_record(record())};
  }
  // With ema(), the model with averages in place of its weights, after the last step; else the model itself.
  M averaged() const { return report.averages ? model.load_record(*report.averages) : model; }
};

// A description of a training; launch() runs it, any number of times. A value; one thread at a time.
template <typename Batch>
class SupervisedTraining {
 public:
  // Checkpoints and logs are written to `artifact_dir`. Those of a former training are replaced, unless resumed.
  SupervisedTraining(std::filesystem::path artifact_dir, data::DataLoader<Batch> train, data::DataLoader<Batch> valid)
      : train_(std::move(train)), valid_(std::move(valid)) {
    options_.artifact_dir = std::move(artifact_dir);
  }
  // Without validation.
  SupervisedTraining(std::filesystem::path artifact_dir, data::DataLoader<Batch> train) : train_(std::move(train)) {
    options_.artifact_dir = std::move(artifact_dir);
  }

  // --- metrics, display and checkpoints ---

  // Sets the metrics of both splits. Default: the loss. Errors, of launch(): two metrics of one name on a split.
  template <std::derived_from<metric::Metric>... Ms>
  SupervisedTraining& metrics(Ms... metrics) {
    options_.train_metrics.clear();
    options_.valid_metrics.clear();
    (metric_train(metrics), ...);
    (metric_valid(std::move(metrics)), ...);
    return *this;
  }
  // Adds a metric to one of the splits.
  template <std::derived_from<metric::Metric> Of>
  SupervisedTraining& metric_train(Of metric) {
    options_.train_metrics.push_back([metric = std::move(metric)] { return std::make_unique<Of>(metric); });
    return *this;
  }
  template <std::derived_from<metric::Metric> Of>
  SupervisedTraining& metric_valid(Of metric) {
    options_.valid_metrics.push_back([metric = std::move(metric)] { return std::make_unique<Of>(metric); });
    return *this;
  }
  // When checkpoints are written and which ones are kept: those that any of the strategies selects, and always the
  // newest. If no strategy selects epochs, the last two and the best one (watched_metric()) are kept; std::nullopt: no
  // checkpoints at all. With early stopping the best epoch is always kept, in memory if there are no checkpoints. A
  // background thread writes them. A failed write causes a message; the third failure in a row ends the training with
  // the reason.
  template <std::convertible_to<CheckpointStrategy>... Strategies>
  SupervisedTraining& checkpoints(Strategies... strategies) {
    return set(options_.checkpoints, std::vector<CheckpointStrategy>{std::move(strategies)...});
  }
  SupervisedTraining& checkpoints(std::nullopt_t) { return set(options_.checkpoints, std::nullopt); }
  // Sets the storage of checkpoints, instead of files in artifact_dir.
  SupervisedTraining& checkpointer(std::shared_ptr<Checkpointer> checkpointer) {
    return set(options_.checkpointer, std::move(checkpointer));
  }
  // Resumes from a checkpoint as if the training had not stopped: same shuffles, same random numbers, same losses, and
  // batches that were used already are not made again. A training that has all its epochs, or that early stopping would
  // have stopped, does not train any further. An interrupted training has a checkpoint of that moment, even within the
  // first epoch. Errors, of launch(): NOT_FOUND if the folder has no checkpoint; INVALID_ARGUMENT for a checkpoint with
  // other metrics, other optimizers or another model; FAILED_PRECONDITION for a checkpoint of a newer version.
  SupervisedTraining& resume(std::int64_t epoch) { return set(options_.resume, Resume{epoch}); }
  SupervisedTraining& resume(Latest) { return set(options_.resume, Resume{}); }
  // The same, but starts a new training if the folder has no checkpoint: for programs that are restarted whenever they
  // end, for example by a job scheduler.
  SupervisedTraining& resume(LatestIfAny) { return set(options_.resume, Resume{.may_start = true}); }
  // Replaces the default display: the terminal's dashboard, or lines if stdout is not a terminal of at least 80 by 24
  // (docs/dashboard.md).
  SupervisedTraining& renderer(std::shared_ptr<Renderer> renderer) {
    return set(options_.renderer, std::move(renderer));
  }
  // Serves a web page that shows the training while it runs (docs/dashboard.md). An address that is not loopback
  // requires a token; if none is given, one is generated. A message has the URL. Errors, of launch(): INVALID_ARGUMENT
  // for an invalid address. If the server cannot listen on it, there is a message, and the training continues.
  SupervisedTraining& dashboard(std::string address = "127.0.0.1:6006", std::string token = "") {
    options_.dashboard_token = std::move(token);
    return set(options_.dashboard, std::move(address));
  }
  // Adds a receiver of the training's events (train/events/event.h), which a background thread calls.
  SupervisedTraining& logger(std::shared_ptr<events::EventSink> logger) {
    options_.loggers.push_back(std::move(logger));
    return *this;
  }
  // Adds a function that the training thread calls with every event and waits for. It may stop the training with the
  // interrupter; an exception ends the training.
  SupervisedTraining& observe(events::EventStream::Observer observer) {
    options_.observers.push_back(std::move(observer));
    return *this;
  }
  // Adds callbacks, which the training thread calls at certain moments of the training (train/learner/callback.h).
  template <std::derived_from<Callback>... Cs>
  SupervisedTraining& callbacks(std::shared_ptr<Cs>... callbacks) {
    (options_.callbacks.push_back(std::move(callbacks)), ...);
    return *this;
  }
  // Prints a table at the end: the best and worst epoch of each metric.
  SupervisedTraining& summary(bool wanted = true) { return set(options_.summary, wanted); }
  // Prints two lines at the end: how the training thread spent its time, and how to improve it. TrainingReport::profile
  // always has the data.
  SupervisedTraining& profile(bool wanted = true) { return set(options_.profile, wanted); }

  // --- duration ---

  SupervisedTraining& epochs(std::int64_t count) { return set(options_.epochs, count); }
  // Ends after this many optimizer steps, including those before a resume, or after this much time of this launch. If
  // that is within an epoch, the model is validated, and the part of the epoch is the last entry of the history. A
  // checkpoint is written, from which a longer training continues within the epoch.
  SupervisedTraining& max_steps(std::int64_t count) { return set(options_.max_steps, count); }
  SupervisedTraining& max_time(std::chrono::duration<double> time) { return set(options_.max_time, time); }
  // Validates also after every `steps` steps, not only at the end of epochs (TrainingReport::validations).
  SupervisedTraining& validate_every(std::int64_t steps) { return set(options_.validate_every, steps); }
  // Limits the number of batches per pass; std::nullopt: all. 0 batches of validation: no validation.
  SupervisedTraining& limit_batches(std::optional<std::int64_t> train, std::optional<std::int64_t> valid = {}) {
    options_.max_train_batches = train;
    return set(options_.max_valid_batches, valid);
  }
  // launch() only runs one batch through everything (training, validation, metrics, checkpoint, resume, and one batch
  // more), in a temporary folder, and returns: this shows errors within seconds.
  SupervisedTraining& dry_run(bool wanted = true) { return set(options_.dry_run, wanted); }
  // Ends the training when a metric no longer improves; result.best() is the best epoch.
  SupervisedTraining& early_stopping(EarlyStopping rule) { return set(options_.early_stopping, std::move(rule)); }
  // Adds a user-defined rule that ends the training.
  SupervisedTraining& stop_when(StopRule rule) {
    options_.stop_rules.push_back(std::move(rule));
    return *this;
  }
  SupervisedTraining& interrupter(Interrupter interrupter) { return set(options_.interrupter, std::move(interrupter)); }

  // --- the training step ---

  // The seed from which, with the epoch, each epoch's random numbers on the device (dropout) follow. Default: the
  // device's seed.
  SupervisedTraining& seed(std::uint64_t seed) { return set(options_.seed, seed); }
  // Takes one optimizer step for every `batches` batches, with the mean of their gradients, or their sum. The last step
  // of an epoch may have fewer.
  SupervisedTraining& grads_accumulation(std::int64_t batches, Reduction reduction = Reduction::mean) {
    options_.accumulation = reduction;
    return set(options_.grads_accumulation, batches);
  }
  // Saves memory at the cost of recomputation (autodiff/checkpointing.h).
  SupervisedTraining& gradient_checkpointing(
      GradientCheckpointingStrategy strategy = GradientCheckpointingStrategy::balanced) {
    return set(options_.checkpointing, strategy);
  }
  // The model's steps compute their products in bf16 or f16 (client/autocast.h).
  SupervisedTraining& autocast(ir::DType dtype) { return set(options_.autocast, dtype); }
  // Scales losses so that small gradients are not lost in f16 (train/optim/grad_scaler.h).
  SupervisedTraining& grad_scaler(optim::GradScalerConfig config = {}) { return set(options_.grad_scaler, config); }
  // Limits the norm of all gradients together (GradientsParams::clip_norm), after they are summed over devices and
  // accumulated over batches. Errors, of launch(): an optimizer that clips gradients itself.
  SupervisedTraining& clip_norm(double limit) { return set(options_.clip_norm, limit); }
  // Averages the weights over the steps (optim::Ema, optim::Swa). The averages are validated, and result.best() has
  // them. The training itself continues with the weights.
  SupervisedTraining& ema(const optim::Ema& config) { return set(options_.average, optim::ModuleAverage{config}); }
  SupervisedTraining& swa(const optim::Swa& config) { return set(options_.average, optim::ModuleAverage{config}); }
  // What an infinite or NaN loss causes.
  SupervisedTraining& on_nan(OnNan what) { return set(options_.on_nan, what); }
  // If more successive steps than this fail, the training ends with the last error; 0: with the first. Otherwise failed
  // steps are skipped, which affects only the schedule, and counted in the display and logs. A failure in validation or
  // a lost device ends the training at once.
  SupervisedTraining& max_failures_in_a_row(std::int64_t count) { return set(options_.max_failures_in_a_row, count); }
  // How the training is distributed over devices (train/strategy/strategy.h). Default: it runs on the model's device.
  // With several devices, the resulting model is on the first.
  SupervisedTraining& strategy(Strategy strategy) { return set(options_.strategy, std::move(strategy)); }

  const TrainingOptions& options() const { return options_; }

  // Errors: as Engine::run.
  template <Module M>
  TrainingResult<M> launch(Learner<M> learner, Loc where = Loc::current()) const {
    return launch(
        std::move(learner), [](const M& /*last*/) {}, where);
  }
  // The same, and calls `at_end` with the model after its last step, before waiting for the results of the last epoch:
  // its computations and reads (into_record(), into_data_async()) are in flight together with them. So a test on a
  // remote device takes no additional round trip. It is not called if the training is interrupted; its exception is
  // rethrown after the last checkpoint is written.
  template <Module M, std::invocable<const M&> AtEnd>
  TrainingResult<M> launch(Learner<M> learner, AtEnd at_end, Loc where = Loc::current()) const {
    static_assert(kHasStep<M, Batch>,
                  "SupervisedTraining::launch: the model has no `step(const Batch&) const` for the loaders' batches");
    static_assert(!kHasStep<M, Batch> || TrainableOn<M, Batch>,
                  "SupervisedTraining::launch: the model's step() returns no output with `step_output()`: return a "
                  "ClassificationOutput, a RegressionOutput, or a struct with that method");
    if constexpr (TrainableOn<M, Batch>) {
      TrainingOptions options = options_;
      options.site = at(where);
      const auto make_work = [&](const TrainingOptions& with) -> std::unique_ptr<Work> {
        return std::make_unique<TypedWork<M, Batch>>(learner.model, train_, valid_, with);
      };
      auto report =
          train::launch(options, make_work, learner.optimizers, [&] { at_end(std::as_const(learner.model)); });
      return {std::move(learner.model), std::move(report)};
    } else {
      return {std::move(learner.model), {}};
    }
  }

 private:
  template <typename Field, typename Value>
  SupervisedTraining& set(Field& field, Value value) {
    field = std::move(value);
    return *this;
  }

  data::DataLoader<Batch> train_;
  std::optional<data::DataLoader<Batch>> valid_;
  TrainingOptions options_;
};

}  // namespace burn::train
