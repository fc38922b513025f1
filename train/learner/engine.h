// The training loop, free of types: epochs of steps and validations, with everything around them.
//
// A step is one program and one run: the batch (made by a loader's worker), forward, backward, what the metrics
// measure, and the optimizer. Nothing in the loop waits for the device but a bound on how far it may be behind.
#pragma once

#include <exception>
#include <functional>

#include "client/record/device_state.h"
#include "train/checkpoint/checkpoint.h"
#include "train/events/event_stream.h"
#include "train/learner/metrics_log.h"
#include "train/learner/options.h"
#include "train/learner/pass.h"
#include "train/learner/work.h"
#include "train/lr/module_lr.h"
#include "train/optim/module_optimizer.h"
#include "train/strategy/strategy.h"

namespace burn::train {

// Used once, by one thread. What it is given outlives it.
class Engine {
 public:
  Engine(const TrainingOptions& options, Work& work, optim::ModuleOptimizer& optimizer,
         lr::ModuleLrScheduler& scheduler);

  // `at_end`: called once when the model is as it will be, unless the training was interrupted; before the numbers of
  // the last epoch are waited for, if it is known to be the last. What it throws is thrown when all else is done.
  // Errors: whatever goes wrong in a step, on the device, or on disk; the checkpoints written so far are then there.
  TrainingReport run(std::function<void()> at_end = {});

 private:
  TrainingReport run_and_report();
  void start_afresh();
  void resume(const Resume& from);
  StopReason train();
  bool has_enough();      // says why
  bool train_epoch();     // false: interrupted
  bool validate_epoch();  // false: interrupted
  struct Measured {
    metric::Packed numbers;
    std::int64_t items;
  };
  std::vector<Measured> train_batch(std::vector<Work::Part> parts);  // what the metrics measured
  void flush();                                                      // of all replicas' devices
  void apply_gradients();
  void skip(const Error& why, std::int64_t in_a_row);
  void finish_epoch();
  void tell(std::string text, events::Level level = events::Level::info);
  void tell_start();
  void tell_split(Split split, double seconds, const metric::MetricSet& metrics);
  void keep_best();
  std::optional<BestEpoch> find_best() const;
  // What a checkpoint has from the device, asked for and on its way.
  struct DeviceRecords {
    Record model, optimizer;
  };
  DeviceRecords ask_records() { return {nn::record_of(work_.model()), optimizer_.to_record(work_.model())}; }
  void save(bool interrupted);
  void tell_interruption(bool inside_epoch);
  void call_at_end();
  void seed_epoch();

  const TrainingOptions& options_;
  Work& work_;
  optim::ModuleOptimizer& optimizer_;
  lr::ModuleLrScheduler& scheduler_;
  const std::vector<nn::ModuleWalk> replicas_;
  const std::unique_ptr<Learning> learning_;
  const std::vector<Device> devices_;  // of the replicas
  const Device device_;                // the first
  const CheckpointStore checkpoints_;
  metric::MetricSet train_metrics_, valid_metrics_;
  events::EventStream events_;
  const KeepBest watched_;
  std::vector<CheckpointStrategy> strategies_;  // with what early stopping needs
  std::optional<MetricsLog> log_;

  std::uint64_t seed_ = 0;
  std::int64_t epoch_ = 1;
  std::int64_t batches_ = 0;                            // of this epoch that have been trained on
  std::int64_t steps_ = 0;                              // of the optimizer, since the beginning of the run
  std::vector<optim::GradientsAccumulator> gradients_;  // by replica
  std::int64_t accumulated_ = 0;                        // batches in it
  std::optional<RandomState> resumed_stream_;           // where an interrupted epoch goes on
  RandomState stream_;                                  // after the last step
  std::optional<Pass> train_pass_;                      // of this epoch: over at the latest when validation is
  std::optional<DeviceRecords> asked_;                  // for the checkpoint at the end of the epoch
  std::function<void()> at_end_;                        // until it is called
  std::exception_ptr at_end_failed_;
  std::int64_t skipped_ = 0;  // steps
  double train_seconds_ = 0, valid_seconds_ = 0;
  std::vector<EpochResult> history_;
  std::int64_t resumed_from_ = 0;             // the epochs until this one are those of the folder's training
  std::shared_ptr<const Record> best_model_;  // without checkpoints: of
  std::int64_t best_epoch_ = 0;               // this epoch, for early stopping
};

}  // namespace burn::train
