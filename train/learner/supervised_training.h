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
// the model itself to train and on model.valid() to validate.
#pragma once

#include <memory>
#include <utility>

#include "base/error.h"
#include "train/learner/batch_recording.h"
#include "train/learner/engine.h"
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

template <Module M>
struct TrainingResult {
  M model;  // after the last step
  TrainingReport report;

  bool interrupted() const { return report.reason == StopReason::interrupted; }

  // By the metric that watched_metric() names. Early stopping, KeepBest and the default see to it that the best epoch
  // is kept; it is read from the folder of the training, which must still be there, and no other training in it.
  // Errors: NOT_FOUND without an epoch that is over, or when the best one was not kept, naming it.
  BestModel<M> best() const {
    if (!report.best) throw Error(StatusCode::not_found, "the best epoch: none is over");
    const auto& [epoch, value, by, is_last, record] = *report.best;
    return {epoch, value, is_last ? model : model.load_record(record())};
  }
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

  // What is measured, on both splits. Without this: the loss.
  template <std::derived_from<metric::Metric>... Ms>
  SupervisedTraining& metrics(Ms... metrics) {
    options_.metrics.clear();
    (options_.metrics.push_back([metric = std::move(metrics)] { return std::make_unique<Ms>(metric); }), ...);
    return *this;
  }
  SupervisedTraining& epochs(std::int64_t count) { return set(options_.epochs, count); }
  // Which checkpoints to keep: what any of the strategies wants, and always the newest. Without this, and without
  // arguments, the last two epochs and the best one (watched_metric()); none with std::nullopt. With early stopping the
  // best epoch is kept, too, whatever is said here: without checkpoints in memory.
  template <std::convertible_to<CheckpointStrategy>... Strategies>
  SupervisedTraining& checkpoints(Strategies... strategies) {
    return set(options_.checkpoints, std::vector<CheckpointStrategy>{std::move(strategies)...});
  }
  SupervisedTraining& checkpoints(std::nullopt_t) { return set(options_.checkpoints, std::nullopt); }
  // Ends the training when a metric gets no better; result.best() is the epoch before that.
  SupervisedTraining& early_stopping(EarlyStopping rule) { return set(options_.early_stopping, std::move(rule)); }
  // Goes on from a checkpoint as if there had been no stop: same shuffles, same random numbers, same losses. One that
  // has all its epochs, or that early stopping would have stopped, does not train any further. An interrupted training
  // has a checkpoint of that moment, however early it came. Errors, of launch(): NOT_FOUND when the folder has no
  // checkpoint.
  SupervisedTraining& resume(std::int64_t epoch) { return set(options_.resume, Resume{epoch}); }
  SupervisedTraining& resume(Latest) { return set(options_.resume, Resume{}); }
  // Each epoch's random numbers on the device (dropout) follow from this seed and the epoch. Without: from the
  // device's.
  SupervisedTraining& seed(std::uint64_t seed) { return set(options_.seed, seed); }
  // One step of the optimizer for so many batches, with the sum of their gradients.
  SupervisedTraining& grads_accumulation(std::int64_t batches) { return set(options_.grads_accumulation, batches); }
  // Less memory for some arithmetic (autodiff/checkpointing.h).
  SupervisedTraining& gradient_checkpointing(
      GradientCheckpointingStrategy strategy = GradientCheckpointingStrategy::balanced) {
    return set(options_.checkpointing, strategy);
  }
  SupervisedTraining& interrupter(Interrupter interrupter) { return set(options_.interrupter, std::move(interrupter)); }
  SupervisedTraining& renderer(std::shared_ptr<Renderer> renderer) {
    return set(options_.renderer, std::move(renderer));
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
  // More steps than this that fail one after the other end the training with the last one's error; 0: the first does.
  // Fewer are skipped, which changes nothing but the schedule, and counted in what is shown and logged. What fails in
  // validation ends the training at once, and so does a device that is lost.
  SupervisedTraining& max_failures_in_a_row(std::int64_t count) { return set(options_.max_failures_in_a_row, count); }
  // How the training is spread over devices (train/strategy/strategy.h). Without: on the device that the model is on.
  // Of several devices the model that is trained is on the first.
  SupervisedTraining& strategy(Strategy strategy) { return set(options_.strategy, std::move(strategy)); }
  // A table at the end: the best and worst epoch of each metric.
  SupervisedTraining& summary(bool wanted = true) { return set(options_.summary, wanted); }

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
      const auto devices = options.strategy ? options.strategy->devices() : std::vector<Device>{};
      TypedWork<M, Batch> work{learner.model, train_, valid_, devices};
      auto report = Engine{options, work, learner.optimizer, learner.scheduler}.run(
          [&] { at_end(std::as_const(learner.model)); });
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

  data::DataLoader<Batch> train_, valid_;
  TrainingOptions options_;
};

}  // namespace burn::train
