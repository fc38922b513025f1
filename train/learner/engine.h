// The training loop, free of types: epochs of steps and validations, with everything around them.
//
// A step is one program and one run: the batch (made by a loader's worker), forward, backward, what the metrics
// measure, and the optimizer. Nothing in the loop waits for the device but a bound on how far it may be behind.
#pragma once

#include <chrono>
#include <deque>
#include <exception>
#include <functional>
#include <memory>

#include "base/error.h"
#include "client/notice.h"
#include "client/record/device_state.h"
#include "train/events/event_stream.h"
#include "train/learner/metrics_log.h"
#include "train/learner/options.h"
#include "train/learner/pass.h"
#include "train/learner/run_checkpoints.h"
#include "train/learner/update.h"
#include "train/learner/work.h"

namespace burn::train {

// What a callback has thrown, with its name.
class CallbackError : public Error {
 public:
  using Error::Error;
};

// Used once, by one thread. What it is given outlives it.
class Engine : private Run {
 public:
  Engine(const TrainingOptions& options, Work& work, Optimizers& optimizers);

  // `at_end`: called once when the model is as it will be, unless the training was interrupted; before the numbers of
  // the last epoch are waited for, if it is known to be the last. What it throws is thrown when all else is done.
  // Errors: whatever goes wrong in a step, on the device, in a callback, or on disk; the checkpoints written so far are
  // then there.
  TrainingReport run(std::function<void()> at_end = {});

 private:
  using Clock = std::chrono::steady_clock;

  // --- the loop (engine.cc)
  TrainingReport run_and_report();
  StopReason train();
  StopReason train_epochs();
  StopReason interrupt(bool inside_epoch);
  Pass& begin_train_pass();                           // of this epoch, in place of the last one's
  std::optional<StopReason> train_epoch(Pass& pass);  // why it ended, unless it had all of its batches
  std::optional<StopReason> why_end();
  bool should_stop();  // the training is interrupted, or a worker has announced that it ends
  bool is_drained() const { return notice_.has_value(); }
  bool is_at_max_steps() const { return options_.max_steps && update_.steps() >= *options_.max_steps; }
  bool has_enough();                                                         // says why
  bool validate_epoch(Pass& trained, bool is_final);                         // false: interrupted
  bool validate(Pass* before, const std::function<void()>& before_the_end);  // the same, of any validation
  void validate_within_epoch(Pass& training);
  struct Measured {
    metric::Packed numbers;
    std::int64_t items;
  };
  std::vector<Measured> train_batch();  // what the metrics measured
  bool after_step(Pass& pass);          // false: a validation after it was interrupted
  void flush();                         // of all replicas' devices
  void skip(const Error& why, std::int64_t in_a_row);
  bool accepts_loss(std::int64_t step, double loss);  // false: the step has changed nothing
  void finish_epoch(bool is_whole);
  void call_at_end();

  // --- checkpoints (engine_checkpoints.cc)
  void start_afresh();
  void resume(const Resume& from);
  void seed_epoch();
  void remember_streams();  // where the random numbers of the devices are
  // What a checkpoint has from the device, asked for and on its way, or held as it is now.
  struct DeviceRecords {
    Record model, optimizer;
    std::map<std::string, Record> more;
  };
  DeviceRecords ask_records();
  // After each step: the second one of a launch is taken as beside a checkpoint. Since what a snapshot holds is not
  // given away, the step after it is a program of its own, which is planned then, where the others are.
  void rehearse_snapshot();
  void save(CheckpointKind kind);
  bool take_outcomes(bool wait);  // false: one of them could not be written
  void keep_best();
  Record averaged(Record model) const;  // the model's record, with the averages in place of the weights
  std::optional<BestEpoch> find_best() const;

  // --- what is told (engine_events.cc)
  void tell(std::string text, events::Level level = events::Level::info);
  void tell_start();
  void tell_split(Split split, double seconds, const metric::MetricSet& metrics);
  void tell_interruption(bool inside_epoch, bool is_saved);
  void tell_phases();
  void tell_profile();
  events::Progress progress_of(Split split) const;
  // Calls a function of each callback. What one throws is thrown with its name.
  void call(const char* moment, const std::function<void(Callback&)>& body);

  // --- Run, for callbacks
  std::int64_t epoch() const override { return epoch_; }
  std::int64_t step() const override { return update_.steps(); }
  std::int64_t batch() const override { return batches_; }
  double rate() const override { return optimizers_.last_rate(); }
  double value(Split split, const std::string& metric) const override;
  const std::vector<EpochResult>& history() const override { return history_; }
  void stop(const std::string& why) override;
  void save_checkpoint() override { checkpoints_.ask(); }
  void message(const std::string& text) override { tell(text); }

  const TrainingOptions& options_;
  Work& work_;
  Optimizers& optimizers_;
  Update update_;
  const std::vector<Device> devices_;  // of the replicas
  const Device device_;                // the first
  metric::MetricSet train_metrics_, valid_metrics_;
  const SplitMetrics metrics_;
  const NumberedMetrics numbers_;
  events::EventStream events_;
  std::string run_;  // its identifier, the same when it is resumed
  const KeepBest watched_;
  RunCheckpoints checkpoints_;
  const bool keeps_snapshots_;  // of a model that is too large to be read at once
  std::optional<MetricsLog> log_;
  PhaseClock clock_;
  const Clock::time_point started_ = Clock::now();

  std::uint64_t seed_ = 0;
  std::int64_t epoch_ = 1;
  std::int64_t batches_ = 0;                       // of this epoch that have been trained on
  std::vector<RandomState> resumed_streams_;       // where an interrupted epoch goes on, by replica
  std::vector<RandomState> streams_;               // after the last step
  std::optional<Pass> train_pass_;                 // of this epoch: over at the latest when validation is
  std::deque<std::int64_t> batches_on_their_way_;  // whose numbers are to come, as counted in the epoch
  std::optional<DeviceRecords> rehearsed_;         // held while the second step is taken
  bool has_rehearsed_ = false;
  std::optional<DeviceRecords> asked_;  // for the checkpoint at the end of the epoch
  bool is_saved_ = false;               // nothing has been trained since the last checkpoint
  std::function<void()> at_end_;        // until it is called
  std::exception_ptr at_end_failed_;
  std::string stop_asked_;        // by a callback: why
  std::optional<Notice> notice_;  // of a worker that ends
  bool nan_was_told_ = false;
  std::int64_t skipped_ = 0;  // steps
  double train_seconds_ = 0, valid_seconds_ = 0;
  std::vector<EpochResult> history_;
  std::vector<StepResult> validations_;
  std::int64_t resumed_from_ = 0;             // the epochs until this one are those of the folder's training
  std::shared_ptr<const Record> best_model_;  // without checkpoints: of
  std::int64_t best_epoch_ = 0;               // this epoch, for early stopping
};

}  // namespace burn::train
