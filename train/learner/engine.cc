#include "train/learner/engine.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "client/site_scope.h"
#include "nn/module/visit.h"
#include "train/learner/checkpoint_data.h"
#include "train/learner/watchers.h"

namespace burn::train {
namespace {

events::Ended ended(StopReason reason) {
  switch (reason) {
    case StopReason::completed:
    case StopReason::time_is_up:
      return events::Ended::completed;
    case StopReason::stopped_early:
      return events::Ended::stopped_early;
    case StopReason::interrupted:
      return events::Ended::interrupted;
  }
  return events::Ended::failed;
}

std::vector<metric::MetricFactory> or_loss(std::vector<metric::MetricFactory> metrics) {
  if (metrics.empty()) metrics.emplace_back([] { return std::make_unique<metric::Loss>(); });
  return metrics;
}

// Whether a model with its optimizer state is too large to be read at once.
bool is_large(const nn::ModuleWalk& model) {
  constexpr std::size_t kCopies = 3;  // parameters and two moments
  std::size_t bytes = 0;
  nn::for_each_place(model, [&](Slot& slot, bool is_first) { bytes += is_first ? slot.value.type().num_bytes() : 0; });
  return kCopies * bytes > Record::kStagingBytes;
}

}  // namespace

Device device_of(const nn::ModuleWalk& model) {
  std::optional<Device> device;
  nn::for_each_place(model, [&](Slot& slot, bool) {
    if (!device) device.emplace(slot.value.device());
  });
  if (!device) throw Error(StatusCode::invalid_argument, "training: the model has no tensors");
  return *device;
}

Engine::Engine(const TrainingOptions& options, Work& work, Optimizers& optimizers)
    : options_((check(options), options)),
      work_(work),
      optimizers_(optimizers),
      update_(options, work, optimizers),
      devices_(devices_of(work.replicas())),
      device_(devices_.front()),
      train_metrics_(or_loss(options.train_metrics)),
      valid_metrics_(or_loss(options.valid_metrics)),
      metrics_(train_metrics_, work.has(Split::valid) ? &valid_metrics_ : nullptr),
      numbers_(metrics_),
      events_(make_watchers(options, metrics_, device_), options.observers),
      watched_(watched_metric(options, metrics_)),
      checkpoints_(options, metrics_, watched_),
      keeps_snapshots_(is_large(work.model())) {
  for (const auto split : {Split::train, Split::valid}) {
    if (!work.has(split) || work.batches(split) > 0) continue;
    throw Error(StatusCode::invalid_argument,
                fmt::format("the loader of the split {} has no batch: its data set is empty, or has fewer items than a "
                            "batch and the loader drop_last()",
                            name(split)));
  }
  if (options_.early_stopping) (void)find_metric(*options_.early_stopping, metrics_);  // throws if there is none
  if (events_.is_watched()) {
    train_metrics_.on_batch([this](std::int64_t step, std::span<const double> values) {
      for (const auto& [metric, value] : values_of(train_metrics_, values, numbers_.train))
        events_.publish(events::MetricPoint::of(metric, Split::train, step, value));
    });
  }
  if (options_.on_nan != OnNan::go_on)
    train_metrics_.on_loss([this](std::int64_t step, double loss) { return accepts_loss(step, loss); });
  clock_.profile().workers = work.workers(Split::train);
  clock_.profile().cores = std::thread::hardware_concurrency();
}

TrainingReport Engine::run(std::function<void()> at_end) {
  at_end_ = std::move(at_end);
  try {
    auto report = run_and_report();
    events_.publish(events::End{ended(report.reason), ""});
    events_.flush();
    return report;
  } catch (const std::exception& error) {
    events_.publish(events::End{events::Ended::failed, error.what()});
    throw;
  }
}

TrainingReport Engine::run_and_report() {
  const client::SiteScope scope{options_.site};
  if (options_.resume)
    resume(*options_.resume);
  else
    start_afresh();
  tell_start();
  TrainingReport report;
  report.reason = train();
  if (report.reason != StopReason::interrupted) call_at_end();
  (void)take_outcomes(true);
  if (at_end_failed_) std::rethrow_exception(at_end_failed_);
  call("end", [this](Callback& callback) { callback.end(*this); });
  if (options_.summary && !history_.empty()) events_.publish(extremes(history_, numbers_));
  clock_.begin(Phase::other);
  report.profile = clock_.profile();
  tell_profile();
  report.metrics = names(train_metrics_);
  if (metrics_.has(Split::valid)) report.valid_metrics = names(valid_metrics_);
  report.best = find_best();
  if (update_.averages() != nullptr)
    report.averages = std::make_shared<const Record>(averaged(nn::record_of(work_.model())));
  report.steps = update_.steps();
  report.drained = report.reason == StopReason::interrupted && is_drained();
  report.skipped = skipped_;
  report.history = std::move(history_);
  report.validations = std::move(validations_);
  return report;
}

StopReason Engine::train() {
  try {
    call("start", [this](Callback& callback) { callback.start(*this); });
    return train_epochs();
  } catch (const CallbackError&) {
    // Saves the progress: only the callback failed, not the training.
    if (options_.checkpoints && !is_saved_ && update_.is_between_steps()) {
      if (train_pass_) train_pass_->finish();
      save(CheckpointKind::interrupted);
      (void)take_outcomes(true);
    }
    throw;
  }
}

StopReason Engine::train_epochs() {
  if (should_stop_early()) return StopReason::stopped_early;  // a resumed training that had stopped
  if (is_at_max_steps()) {
    tell(fmt::format("nothing is left to train: max_steps is {}, and the checkpoint is of step {}",
                     options_.max_steps.value_or(0), update_.steps()));
    return StopReason::completed;
  }
  if (options_.resume && epoch_ > options_.epochs) {
    tell(fmt::format("nothing is left to train: epochs is {}, and the checkpoint is of the end of epoch {}",
                     options_.epochs, epoch_ - 1));
  }
  if (epoch_ <= options_.epochs) log_.emplace(options_.artifact_dir, epoch_ - 1);
  for (; epoch_ <= options_.epochs; ++epoch_) {
    if (should_stop()) return interrupt(false);
    Pass& pass = begin_train_pass();
    const auto why = train_epoch(pass);
    const bool is_whole = !why || batches_ == work_.batches(Split::train);
    if (why == StopReason::interrupted || !validate_epoch(pass, why || epoch_ == options_.epochs))
      return interrupt(true);
    finish_epoch(is_whole);
    if (why) return *why;
    if (should_stop_early() || !stop_asked_.empty()) return StopReason::stopped_early;
    if (is_at_max_steps()) return StopReason::completed;  // reached by the step at the end of the epoch
  }
  return StopReason::completed;
}

StopReason Engine::interrupt(bool inside_epoch) {
  // Between epochs, the end of the last one is on disk already; before the first epoch there is no checkpoint yet.
  bool is_saved = is_drained() || options_.interrupter.wants_checkpoint();
  if (options_.checkpoints && is_saved && (inside_epoch || (epoch_ == 1 && !options_.resume))) {
    save(CheckpointKind::interrupted);
    is_saved = take_outcomes(true);
  }
  tell_interruption(inside_epoch, is_saved);
  return StopReason::interrupted;
}

// at_end() is user code and may throw, but the last checkpoint must still be written: the exception is stored.
void Engine::call_at_end() {
  try {
    if (const auto at_end = std::exchange(at_end_, nullptr)) at_end();
  } catch (...) {
    at_end_failed_ = std::current_exception();
  }
}

bool Engine::should_stop_early() {
  std::string why;
  if (options_.early_stopping) why = why_stop(*options_.early_stopping, metrics_, history_);
  for (const auto& rule : options_.stop_rules) {
    if (why.empty() && !history_.empty()) why = rule(history_);
  }
  if (!why.empty()) tell(why);
  return !why.empty();
}

bool Engine::should_stop() {
  if (options_.interrupter.should_stop()) return true;
  for (const auto& device : devices_) {
    if (!notice_) notice_ = notice_of(device);
  }
  return is_drained();
}

std::optional<StopReason> Engine::why_end() {
  if (should_stop()) return StopReason::interrupted;
  if (!stop_asked_.empty()) return StopReason::stopped_early;
  if (is_at_max_steps()) return StopReason::completed;
  if (options_.max_time && Clock::now() - started_ >= *options_.max_time) return StopReason::time_is_up;
  return std::nullopt;
}

}  // namespace burn::train
