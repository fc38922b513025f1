// Training a model on labelled data:
//
//   auto training = train::SupervisedTraining(artifact_dir, train_loader, valid_loader)
//                       .metrics(metric::Accuracy{}, metric::Loss{})
//                       .checkpoints(train::KeepLast{2}, train::KeepBest{.metric = "Loss"})
//                       .early_stopping({.metric = "Loss", .split = train::Split::valid, .patience = 3})
//                       .epochs(10)
//                       .summary();
//   auto result = training.launch(train::Learner(NetConfig{}.init(device), optim::AdamConfig{}, 1e-3));
//   result.best().model;  // as it was after the epoch with the best loss; result.model: the last
//
// The model has `step(const Batch&) const`, which returns one of the outputs of train/learner/output.h. It is called on
// the model itself to train and on model.valid() to validate; `train_step` and `valid_step` take its place where the
// two differ. docs/training.md has the whole.
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

// The model as it was after the best epoch.
template <Module M>
struct BestModel {
  std::int64_t epoch = 0;
  double value = 0;  // of the watched metric
  M model;           // on the device of the model that was trained
};

// The status of a program that may succeed if it is started again (EX_TEMPFAIL of sysexits.h).
inline constexpr int kTryAgain = 75;

template <Module M>
struct TrainingResult {
  M model;  // after the last step
  TrainingReport report;

  bool interrupted() const { return report.reason == StopReason::interrupted; }
  // Interrupted as a worker has announced that it ends. The training is to be started again and resumed, on another
  // worker, or when that one has been replaced: by custom such a program ends with status 75 (kTryAgain).
  bool drained() const { return report.drained; }

  // By the metric that watched_metric() names. Early stopping, KeepBest and the default see to it that the best epoch
  // is kept; it is read from the folder of the training, which must still be there, and no other training in it. With
  // ema() these are the averages, which is what was validated.
  // Errors: NOT_FOUND without an epoch that is over, or when the best one was not kept, naming it.
  BestModel<M> best() const {
    if (!report.best) throw Error(StatusCode::not_found, "the best epoch: none is over");
    const auto& [epoch, value, by, is_last, record] = *report.best;
    return {epoch, value, is_last ? model : model.load_record(record())};
  }
  // With ema() the model with the averages of its weights in their place, after the last step; else the model itself.
  M averaged() const { return report.averages ? model.load_record(*report.averages) : model; }
};

// A description of a training; launch() carries it out, as often as it is called. A value; one thread at a time.
template <typename Batch>
class SupervisedTraining {
 public:
  // Checkpoints and logs go to `artifact_dir`. What a former training left there is replaced, unless resumed.
  SupervisedTraining(std::filesystem::path artifact_dir, data::DataLoader<Batch> train, data::DataLoader<Batch> valid)
      : train_(std::move(train)), valid_(std::move(valid)) {
    options_.artifact_dir = std::move(artifact_dir);
  }
  // Without validation.
  SupervisedTraining(std::filesystem::path artifact_dir, data::DataLoader<Batch> train) : train_(std::move(train)) {
    options_.artifact_dir = std::move(artifact_dir);
  }

  // --- what is measured, shown and kept ---

  // What is measured, on both splits. Without this: the loss. Errors, of launch(): two of one name on a split.
  template <std::derived_from<metric::Metric>... Ms>
  SupervisedTraining& metrics(Ms... metrics) {
    options_.train_metrics.clear();
    options_.valid_metrics.clear();
    (metric_train(metrics), ...);
    (metric_valid(std::move(metrics)), ...);
    return *this;
  }
  // One more, on one of the splits alone.
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
  // When checkpoints are written and which to keep: what any of the strategies wants, and always the newest. Unless one
  // of them says which epochs to keep, the last two and the best one (watched_metric()); no checkpoints at all with
  // std::nullopt. With early stopping the best epoch is kept, too, whatever is said here: without checkpoints in
  // memory. They are written by a thread of their own. One that cannot be written is a message; the third in a row ends
  // the training with the reason.
  template <std::convertible_to<CheckpointStrategy>... Strategies>
  SupervisedTraining& checkpoints(Strategies... strategies) {
    return set(options_.checkpoints, std::vector<CheckpointStrategy>{std::move(strategies)...});
  }
  SupervisedTraining& checkpoints(std::nullopt_t) { return set(options_.checkpoints, std::nullopt); }
  // Where they are kept, instead of files in artifact_dir.
  SupervisedTraining& checkpointer(std::shared_ptr<Checkpointer> checkpointer) {
    return set(options_.checkpointer, std::move(checkpointer));
  }
  // Goes on from a checkpoint as if there had been no stop: same shuffles, same random numbers, same losses, and no
  // batch is made that was used already. One that has all its epochs, or that early stopping would have stopped, does
  // not train any further. An interrupted training has a checkpoint of that moment, however early it came. Errors, of
  // launch(): NOT_FOUND when the folder has no checkpoint; INVALID_ARGUMENT for one of other metrics, other optimizers
  // or another model; FAILED_PRECONDITION for one that a newer version has written.
  SupervisedTraining& resume(std::int64_t epoch) { return set(options_.resume, Resume{epoch}); }
  SupervisedTraining& resume(Latest) { return set(options_.resume, Resume{}); }
  // The same, and starts where the folder has no checkpoint yet: what a program says that is started again whenever it
  // was ended, as by a scheduler of jobs.
  SupervisedTraining& resume(LatestIfAny) { return set(options_.resume, Resume{.may_start = true}); }
  // What shows the training in the place of the terminal's dashboard, or of lines where stdout is no terminal of 80 by
  // 24 (docs/dashboard.md).
  SupervisedTraining& renderer(std::shared_ptr<Renderer> renderer) {
    return set(options_.renderer, std::move(renderer));
  }
  // Serves a page that shows the training while it runs (docs/dashboard.md). An address that is not loopback needs a
  // token; without one here, one is made. Its URL is told as a message. Errors, of launch(): INVALID_ARGUMENT for what
  // is no address. Where it cannot be listened to there is a message, and the training goes on.
  SupervisedTraining& dashboard(std::string address = "127.0.0.1:6006", std::string token = "") {
    options_.dashboard_token = std::move(token);
    return set(options_.dashboard, std::move(address));
  }
  // Told what happens (train/events/event.h), by a thread of its own; as often as it is called, one more.
  SupervisedTraining& logger(std::shared_ptr<events::EventSink> logger) {
    options_.loggers.push_back(std::move(logger));
    return *this;
  }
  // Called with every event by the thread that trains, which waits for it. It may stop the training by its interrupter;
  // what it throws ends the training.
  SupervisedTraining& observe(events::EventStream::Observer observer) {
    options_.observers.push_back(std::move(observer));
    return *this;
  }
  // Called at the moments of the training, by the thread that trains (train/learner/callback.h). As often as it is
  // called, more of them.
  template <std::derived_from<Callback>... Cs>
  SupervisedTraining& callbacks(std::shared_ptr<Cs>... callbacks) {
    (options_.callbacks.push_back(std::move(callbacks)), ...);
    return *this;
  }
  // A table at the end: the best and worst epoch of each metric.
  SupervisedTraining& summary(bool wanted = true) { return set(options_.summary, wanted); }
  // Two lines at the end: where the time of the thread that trains went, and what to do about it. It is always in
  // TrainingReport::profile.
  SupervisedTraining& profile(bool wanted = true) { return set(options_.profile, wanted); }

  // --- how long ---

  SupervisedTraining& epochs(std::int64_t count) { return set(options_.epochs, count); }
  // Ends after so many steps of the optimizer, those before a resume included, or after so much time of this launch. If
  // that is within an epoch, the part of it that was trained is validated and is the last of the history; a checkpoint
  // is written, from which a longer training goes on within the epoch.
  SupervisedTraining& max_steps(std::int64_t count) { return set(options_.max_steps, count); }
  SupervisedTraining& max_time(std::chrono::duration<double> time) { return set(options_.max_time, time); }
  // Validates after each so many steps, too, and not at the end of epochs alone (TrainingReport::validations).
  SupervisedTraining& validate_every(std::int64_t steps) { return set(options_.validate_every, steps); }
  // At most so many batches of each pass; none: all. No batches of validation: it is left out.
  SupervisedTraining& limit_batches(std::optional<std::int64_t> train, std::optional<std::int64_t> valid = {}) {
    options_.max_train_batches = train;
    return set(options_.max_valid_batches, valid);
  }
  // launch() takes one batch through everything (training, validation, metrics, checkpoint, resume, and one batch
  // more), in a folder of its own that is removed, and returns: what is wrong shows within seconds.
  SupervisedTraining& dry_run(bool wanted = true) { return set(options_.dry_run, wanted); }
  // Ends the training when a metric gets no better; result.best() is the epoch before that.
  SupervisedTraining& early_stopping(EarlyStopping rule) { return set(options_.early_stopping, std::move(rule)); }
  // Ends it by a rule of the user's own; as often as it is called, one more.
  SupervisedTraining& stop_when(StopRule rule) {
    options_.stop_rules.push_back(std::move(rule));
    return *this;
  }
  SupervisedTraining& interrupter(Interrupter interrupter) { return set(options_.interrupter, std::move(interrupter)); }

  // --- a step ---

  // Each epoch's random numbers on the device (dropout) follow from this seed and the epoch. Without: from the
  // device's.
  SupervisedTraining& seed(std::uint64_t seed) { return set(options_.seed, seed); }
  // One step of the optimizer for so many batches, with the mean of their gradients, or their sum. What is left at the
  // end of an epoch is a step of fewer.
  SupervisedTraining& grads_accumulation(std::int64_t batches, Reduction reduction = Reduction::mean) {
    options_.accumulation = reduction;
    return set(options_.grads_accumulation, batches);
  }
  // Less memory for some arithmetic (autodiff/checkpointing.h).
  SupervisedTraining& gradient_checkpointing(
      GradientCheckpointingStrategy strategy = GradientCheckpointingStrategy::balanced) {
    return set(options_.checkpointing, strategy);
  }
  // The model's steps compute their products in bf16 or f16 (client/autocast.h).
  SupervisedTraining& autocast(ir::DType dtype) { return set(options_.autocast, dtype); }
  // Scales losses so that small gradients are not lost in f16 (train/optim/grad_scaler.h).
  SupervisedTraining& grad_scaler(optim::GradScalerConfig config = {}) { return set(options_.grad_scaler, config); }
  // Limits the norm of all gradients together (GradientsParams::clip_norm), after they are summed over devices and
  // gathered over batches. Errors, of launch(): an optimizer that clips gradients by itself.
  SupervisedTraining& clip_norm(double limit) { return set(options_.clip_norm, limit); }
  // Averages of the weights over the steps (optim::Ema, optim::Swa): they are what is validated, and what result.best()
  // has. The training itself goes on with the weights.
  SupervisedTraining& ema(const optim::Ema& config) { return set(options_.average, optim::ModuleAverage{config}); }
  SupervisedTraining& swa(const optim::Swa& config) { return set(options_.average, optim::ModuleAverage{config}); }
  // What follows from a loss that is infinite or NaN.
  SupervisedTraining& on_nan(OnNan what) { return set(options_.on_nan, what); }
  // More steps than this that fail one after the other end the training with the last one's error; 0: the first does.
  // Fewer are skipped, which changes nothing but the schedule, and counted in what is shown and logged. What fails in
  // validation ends the training at once, and so does a device that is lost.
  SupervisedTraining& max_failures_in_a_row(std::int64_t count) { return set(options_.max_failures_in_a_row, count); }
  // How the training is spread over devices (train/strategy/strategy.h). Without: on the device that the model is on.
  // Of several devices the model that is trained is on the first.
  SupervisedTraining& strategy(Strategy strategy) { return set(options_.strategy, std::move(strategy)); }

  const TrainingOptions& options() const { return options_; }

  // Errors: as Engine::run.
  template <Module M>
  TrainingResult<M> launch(Learner<M> learner, Loc where = Loc::current()) const {
    return launch(
        std::move(learner), [](const M& /*last*/) {}, where);
  }
  // The same, and calls `at_end` with the model after its last step, before the numbers of the last epoch are waited
  // for: what it computes and asks for (into_record(), into_data_async()) is on its way together with them. So a test
  // on a device that is far away takes no round trip of its own. It is not called when the training is interrupted;
  // what it throws is thrown when the last checkpoint is written.
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
