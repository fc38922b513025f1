// The training loop, independent of the types of model and batch: epochs of steps and validations, with checkpoints,
// metrics, events and callbacks.
//
// A step is one program and one run: the batch (made by a loader's worker), forward, backward, the metrics'
// measurements, and the optimizer. The loop waits for the device only when it is too far ahead of it.
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

// An exception of a callback, with the callback's name.
class CallbackError : public Error {
 public:
  using Error::Error;
};

// Used once, by one thread. The constructor's arguments must outlive it.
class Engine : private Run {
 public:
  Engine(const TrainingOptions& options, Work& work, Optimizers& optimizers);

  // `at_end`: called once when the model is final, unless the training was interrupted; if the last epoch is known to
  // be the last, before waiting for its results. Its exception is rethrown after everything else is done. Errors: any
  // failure in a step, on the device, in a callback, or on disk; the checkpoints written so far remain.
  TrainingReport run(std::function<void()> at_end = {});

 private:
  using Clock = std::chrono::steady_clock;

  // --- the loop (engine.cc)
  TrainingReport run_and_report();
  StopReason train();
  StopReason train_epochs();
  StopReason interrupt(bool inside_epoch);
  Pass& begin_train_pass();                           // replaces the pass of the previous epoch
  std::optional<StopReason> train_epoch(Pass& pass);  // the reason if it ended before its last batch
  std::optional<StopReason> why_end();
  bool should_stop();  // the training is interrupted, or a worker has announced its end
  bool is_drained() const { return notice_.has_value(); }
  bool is_at_max_steps() const { return options_.max_steps && update_.steps() >= *options_.max_steps; }
  bool should_stop_early();                                                  // reports why
  bool validate_epoch(Pass& trained, bool is_final);                         // false: interrupted
  bool validate(Pass* before, const std::function<void()>& before_the_end);  // the same for any validation
  void validate_within_epoch(Pass& training);
  struct Measured {
    metric::Packed numbers;
    std::int64_t items;
  };
  std::vector<Measured> train_batch();  // the metrics' measurements
  bool after_step(Pass& pass);          // false: interrupted during a validation after it
  void flush();                         // flushes the devices of all replicas
  void skip(const Error& why, std::int64_t in_a_row);
  bool accepts_loss(std::int64_t step, double loss);  // false: the step had no effect
  void finish_epoch(bool is_whole);
  void call_at_end();

  // --- checkpoints (engine_checkpoints.cc)
  void start_afresh();
  void resume(const Resume& from);
  void seed_epoch();
  void store_random_streams();  // the positions of the devices' random streams
  // The parts of a checkpoint that are on the device: reads in flight, or snapshots of the present tensors.
  struct DeviceRecords {
    Record model, optimizer;
    std::map<std::string, Record> more;
  };
  DeviceRecords ask_records();
  // Called after each step. Takes a snapshot before the second step of a launch. Tensors that a snapshot holds cannot
  // be donated, so the step after a snapshot is a different program; this way it is planned at the start of the launch,
  // like the others.
  void rehearse_snapshot();
  void save(CheckpointKind kind);
  bool take_outcomes(bool wait);  // false: one of them could not be written
  void keep_best();
  Record averaged(Record model) const;  // the model's record with averages in place of weights
  std::optional<BestEpoch> find_best() const;

  // --- events and messages (engine_events.cc)
  void tell(std::string text, events::Level level = events::Level::info);
  void tell_start();
  void tell_split(Split split, double seconds, const metric::MetricSet& metrics);
  void tell_interruption(bool inside_epoch, bool is_saved);
  void tell_phases();
  void tell_profile();
  events::Progress progress_of(Split split) const;
  // Calls a function of each callback. Exceptions are rethrown with the callback's name.
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
  std::string run_;  // the run's identifier, the same after a resume
  const KeepBest watched_;
  RunCheckpoints checkpoints_;
  const bool keeps_snapshots_;  // the model is too large to be read at once
  std::optional<MetricsLog> log_;
  PhaseClock clock_;
  const Clock::time_point started_ = Clock::now();

  std::uint64_t seed_ = 0;
  std::int64_t epoch_ = 1;
  std::int64_t batches_ = 0;                       // batches trained on in this epoch
  std::vector<RandomState> resumed_streams_;       // positions at which an interrupted epoch continues
  std::vector<RandomState> streams_;               // after the last step
  std::optional<Pass> train_pass_;                 // of this epoch; finished at the latest with the validation
  std::deque<std::int64_t> batches_on_their_way_;  // their numbers within the epoch
  std::optional<DeviceRecords> rehearsed_;         // held during the second step
  bool has_rehearsed_ = false;
  std::optional<DeviceRecords> asked_;  // records for the checkpoint at the end of the epoch
  bool is_saved_ = false;               // nothing has been trained since the last checkpoint
  std::function<void()> at_end_;        // empty after its call
  std::exception_ptr at_end_failed_;
  std::string stop_asked_;        // reason given by a callback; empty: not asked
  std::optional<Notice> notice_;  // announcement of a worker that it ends
  bool nan_was_told_ = false;
  std::int64_t skipped_ = 0;  // steps
  double train_seconds_ = 0, valid_seconds_ = 0;
  std::vector<EpochResult> history_;
  std::vector<StepResult> validations_;
  std::int64_t resumed_from_ = 0;             // epochs up to this one were trained before the resume
  std::shared_ptr<const Record> best_model_;  // without checkpoints: the best epoch's model,
  std::int64_t best_epoch_ = 0;               // and its number, for early stopping
};

}  // namespace burn::train
