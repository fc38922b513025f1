#include "train/learner/engine.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "client/ops/ops.h"
#include "client/site_scope.h"
#include "nn/module/visit.h"
#include "train/learner/checkpoint_data.h"
#include "train/learner/watchers.h"

namespace burn::train {
namespace {

// Seeds of successive epochs have nothing to do with each other (the finaliser of SplitMix64).
std::uint64_t seed_of_epoch(std::uint64_t seed, std::int64_t epoch) {
  std::uint64_t z = seed + static_cast<std::uint64_t>(epoch) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::vector<metric::MetricFactory> metrics_or_loss(const TrainingOptions& options) {
  if (!options.metrics.empty()) return options.metrics;
  return {[] { return std::make_unique<metric::Loss>(); }};
}

events::Ended ended(StopReason reason) {
  switch (reason) {
    case StopReason::completed:
      return events::Ended::completed;
    case StopReason::stopped_early:
      return events::Ended::stopped_early;
    case StopReason::interrupted:
      return events::Ended::interrupted;
  }
  return events::Ended::failed;
}

std::vector<Device> devices_of(const std::vector<nn::ModuleWalk>& replicas) {
  std::vector<Device> devices;
  for (const auto& replica : replicas) devices.push_back(device_of(replica));
  return devices;
}

// The loss of a part of a batch as what it adds to the loss of the batch.
client::Value share_of(const client::Value& loss, double weight) {
  const auto& site = client::current_site();
  return client::pointwise(ir::PointwiseFn::mul, loss,
                           client::scalar(client::place_of(loss), weight, loss.dtype(), site), site);
}

}  // namespace

KeepBest watched_metric(const TrainingOptions& options, const metric::MetricSet& metrics) {
  if (const auto& rule = options.early_stopping) return {rule->metric, rule->split};
  for (const auto& strategy : options.checkpoints.value_or(std::vector<CheckpointStrategy>{})) {
    if (const auto* best = std::get_if<KeepBest>(&strategy)) return *best;
  }
  const auto loss = metric::Loss{}.name();
  if (metrics.find(loss)) return {loss};
  for (const auto& metric : metrics.metrics()) {
    if (!metric->is_text()) return {metric->name()};
  }
  throw Error(StatusCode::invalid_argument,
              "training: no metric is a number, by which an epoch could be the best; add metric::Loss");
}

Device device_of(const nn::ModuleWalk& model) {
  std::optional<Device> device;
  nn::for_each_place(model, [&](Slot& slot, bool) {
    if (!device) device.emplace(slot.value.device());
  });
  if (!device) throw Error(StatusCode::invalid_argument, "training: the model has no tensors");
  return *device;
}

Engine::Engine(const TrainingOptions& options, Work& work, optim::ModuleOptimizer& optimizer,
               lr::ModuleLrScheduler& scheduler)
    : options_(options),
      work_(work),
      optimizer_(optimizer),
      scheduler_(scheduler),
      replicas_(work.replicas()),
      learning_((options.strategy ? options.strategy : single())->start(replicas_, optimizer)),
      devices_(devices_of(replicas_)),
      device_(devices_.front()),
      checkpoints_(options.artifact_dir),
      train_metrics_(metrics_or_loss(options)),
      valid_metrics_(metrics_or_loss(options)),
      events_(make_watchers(options, metrics_or_loss(options)), options.observers),
      watched_(watched_metric(options, train_metrics_)),
      gradients_(replicas_.size()) {
  if (options_.early_stopping) (void)find_metric(*options_.early_stopping, train_metrics_);  // throws if there is none
  if (events_.is_watched()) {
    train_metrics_.on_batch([this](std::int64_t step, std::span<const double> values) {
      for (const auto& [metric, value] : values_of(train_metrics_, {values.begin(), values.end()}))
        events_.publish(events::MetricPoint::of(metric, Split::train, step, value));
    });
  }
  if (!options_.checkpoints) return;
  strategies_ = *options_.checkpoints;
  const bool is_default = strategies_.empty();
  if (is_default) strategies_.emplace_back(KeepLast{});
  if (is_default || options_.early_stopping) strategies_.push_back(watched_);
  for (const auto& strategy : strategies_) check(strategy, train_metrics_);
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
  if (at_end_failed_) std::rethrow_exception(at_end_failed_);
  if (options_.summary && !history_.empty()) events_.publish(extremes(history_, train_metrics_.metrics().size()));
  report.metrics = names(train_metrics_);
  report.best = find_best();
  report.skipped = skipped_;
  report.history = std::move(history_);
  return report;
}

StopReason Engine::train() {
  if (has_enough()) return StopReason::stopped_early;  // a resumed one that had stopped
  if (epoch_ <= options_.epochs) log_.emplace(options_.artifact_dir, epoch_ - 1);
  for (; epoch_ <= options_.epochs; ++epoch_) {
    const bool stopped_before = options_.interrupter.should_stop();
    if (stopped_before || !train_epoch() || !validate_epoch()) {
      // Before an epoch the end of the last one is on disk, but before the first there is none.
      if (options_.checkpoints && (!stopped_before || (epoch_ == 1 && !options_.resume))) save(true);
      tell_interruption(!stopped_before);
      return StopReason::interrupted;
    }
    finish_epoch();
    if (has_enough()) return StopReason::stopped_early;
  }
  return StopReason::completed;
}

// It may be wrong about what is its own, and the last checkpoint is still to be written.
void Engine::call_at_end() {
  try {
    if (const auto at_end = std::exchange(at_end_, nullptr)) at_end();
  } catch (...) {
    at_end_failed_ = std::current_exception();
  }
}

bool Engine::has_enough() {
  if (!options_.early_stopping) return false;
  const auto why = why_stop(*options_.early_stopping, train_metrics_, history_);
  if (!why.empty()) tell(why);
  return !why.empty();
}

void Engine::start_afresh() {
  if (options_.checkpoints) checkpoints_.clear();
  seed_ = options_.seed.value_or(device_.state()->sent_random_state().seed);
}

void Engine::resume(const Resume& from) {
  const auto checkpoint = checkpoints_.load(from.epoch, [&](const std::string& why) {
    tell("resume: " + why + "; going on from an older one", events::Level::warning);
  });
  const auto& state = checkpoint.state;
  check_metrics(state, train_metrics_);
  for (const auto& replica : replicas_) nn::load_record(replica, checkpoint.model, "the model");
  learning_->load_record(checkpoint.optimizer);
  scheduler_.load_record(checkpoint.scheduler);
  history_ = history_from_record(checkpoint.metrics);
  seed_ = static_cast<std::uint64_t>(state.seed);
  epoch_ = state.epoch + 1;
  if (state.interrupted) {
    epoch_ = state.epoch;
    batches_ = state.batches;
  }
  steps_ = state.steps;
  if (batches_ > 0) {  // else the epoch had not begun
    resumed_stream_ = {static_cast<std::uint64_t>(state.stream_seed), static_cast<std::uint64_t>(state.stream_offset)};
    load_gathered(checkpoint.metrics, state.items, train_metrics_);
  }
  resumed_from_ = epoch_ - 1;
}

void Engine::seed_epoch() {
  for (std::size_t k = 0; k < devices_.size(); ++k) {
    const auto seed = seed_of_epoch(seed_ + k, epoch_);
    if (!resumed_stream_)
      devices_[k].seed(seed);
    else  // only the first one's is in the checkpoint
      devices_[k].state()->continue_random_state(k == 0 ? *resumed_stream_
                                                        : RandomState{seed, resumed_stream_->position});
  }
  resumed_stream_.reset();
}

void Engine::flush() {
  for (const auto& device : devices_) device.flush();
}

bool Engine::train_epoch() {
  if (!resumed_stream_) train_metrics_.reset();
  events::Progress told{.split = Split::train, .epoch = epoch_, .epochs = options_.epochs};
  told.total_items = work_.items(Split::train);
  Pass& pass = train_pass_.emplace(train_metrics_, events_, told, nullptr,
                                   [this](const Error& why, std::int64_t in_a_row) { skip(why, in_a_row); });
  work_.begin(Split::train, epoch_, batches_, [this] { seed_epoch(); });
  bool stopped = false;
  while (!stopped) {
    auto parts = work_.step();
    if (parts.empty()) break;
    const auto measured = train_batch(std::move(parts));
    batches_ += 1;
    for (const auto& [numbers, items] : measured) pass.batch_sent(numbers, items, steps_, scheduler_.last());
    stopped = accumulated_ == 0 && options_.interrupter.should_stop();
  }
  if (accumulated_ > 0) apply_gradients();
  stream_ = device_.state()->sent_random_state();  // before batches that are not used are dropped
  work_.end();
  pass.all_sent();
  if (stopped) pass.finish();
  return !stopped;
}

std::vector<Engine::Measured> Engine::train_batch(std::vector<Work::Part> parts) {
  const GradientCheckpointing checkpointing{options_.checkpointing};
  std::vector<Measured> measured;
  std::vector<optim::GradientsParams> gradients;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto& [output, weight] = parts[k];
    const auto loss = parts.size() == 1 ? output.loss : share_of(output.loss, weight);
    gradients.push_back(
        optim::GradientsParams::from_grads(client::backward(loss, {}, options_.site), replicas_[k], options_.site));
    if (weight > 0) measured.push_back({train_metrics_.measure(output), output.items});
  }
  parts.clear();  // what is held when the program is closed becomes its result
  if (options_.grads_accumulation > 1) {
    for (std::size_t k = 0; k < gradients.size(); ++k) gradients_[k].accumulate(std::move(gradients[k]));
    accumulated_ += 1;
    if (accumulated_ == options_.grads_accumulation)
      apply_gradients();
    else
      flush();
  } else {
    learning_->step(scheduler_.step(), std::move(gradients));
    steps_ += 1;
  }
  return measured;
}

// What its step was to change is as it was; so the next one may go better. Not on a device that is lost.
void Engine::skip(const Error& why, std::int64_t in_a_row) {
  constexpr std::int64_t kShown = 3;  // of an epoch, in words
  const auto is_well = [](const Device& device) { return device.state()->health().ok(); };
  if (!std::ranges::all_of(devices_, is_well)) throw why;
  if (in_a_row > options_.max_failures_in_a_row) throw why;
  ++skipped_;
  if (train_metrics_.skipped() <= kShown) tell(std::string{"step skipped: "} + why.what(), events::Level::warning);
  if (train_metrics_.skipped() == kShown) tell("further ones of this epoch are only counted", events::Level::warning);
}

void Engine::apply_gradients() {
  accumulated_ = 0;
  std::vector<optim::GradientsParams> gradients;
  for (auto& of_replica : gradients_) gradients.push_back(of_replica.grads());
  learning_->step(scheduler_.step(), std::move(gradients));
  steps_ += 1;
}

bool Engine::validate_epoch() {
  valid_metrics_.reset();
  if (options_.checkpoints) asked_ = ask_records();  // no validation changes them, and they come while it goes on
  events::Progress told{.split = Split::valid, .epoch = epoch_, .epochs = options_.epochs};
  told.total_items = work_.items(Split::valid);
  Pass pass{valid_metrics_, events_, told, &*train_pass_};
  work_.begin(Split::valid, epoch_, 0, [] {});
  bool stopped = false;
  while (!stopped) {
    auto parts = work_.step();
    if (parts.empty()) break;
    std::vector<Measured> measured;
    for (const auto& [output, weight] : parts) {
      if (weight > 0) measured.push_back({valid_metrics_.measure(output), output.items});
    }
    parts.clear();
    flush();
    for (const auto& [numbers, items] : measured) pass.batch_sent(numbers, items, steps_, scheduler_.last());
    stopped = options_.interrupter.should_stop();
  }
  work_.end();
  pass.all_sent();
  if (!stopped && epoch_ == options_.epochs) call_at_end();
  pass.finish();
  train_seconds_ = train_pass_->seconds();
  valid_seconds_ = pass.seconds();
  return !stopped;
}

void Engine::finish_epoch() {
  history_.push_back({epoch_, train_metrics_.values(), valid_metrics_.values()});
  log_->write(epoch_, Split::train, train_seconds_, scheduler_.last(), train_metrics_);
  log_->write(epoch_, Split::valid, valid_seconds_, scheduler_.last(), valid_metrics_);
  tell_split(Split::train, train_seconds_, train_metrics_);
  tell_split(Split::valid, valid_seconds_, valid_metrics_);
  events_.publish(events::EpochEnd{epoch_, options_.epochs, steps_, scheduler_.last()});
  if (options_.checkpoints)
    save(false);
  else if (options_.early_stopping)
    keep_best();
  batches_ = 0;  // of the next one
}

// Early stopping comes some epochs after the best one, which then is nowhere else.
void Engine::keep_best() {
  if (find_best()->epoch != epoch_) return;
  best_model_ = std::make_shared<const Record>(nn::record_of(work_.model()));
  best_epoch_ = epoch_;
}

std::optional<BestEpoch> Engine::find_best() const {
  if (history_.empty()) return std::nullopt;
  const auto metric = find_metric("the best epoch", watched_.metric, train_metrics_);
  const auto best = train::find_best(history_, watched_.split, metric, train_metrics_);
  // Without checkpoints the folder may hold those of another training.
  const bool is_on_disk = options_.checkpoints || best.epoch <= resumed_from_;
  BestEpoch found{.epoch = best.epoch, .value = best.value, .by = watched_};
  found.is_last = best.epoch == history_.back().epoch && batches_ == 0;
  found.record = [store = checkpoints_, is_on_disk, epoch = best.epoch,
                  model = best_epoch_ == best.epoch ? best_model_ : nullptr] {
    if (model) return *model;
    if (is_on_disk) return store.load_model(epoch);
    throw Error(StatusCode::not_found,
                fmt::format("the model of epoch {}, the best one, was not kept: this training has "
                            "neither checkpoints nor early stopping",
                            epoch));
  };
  return found;
}

void Engine::save(bool interrupted) {
  const auto start = std::chrono::steady_clock::now();
  Checkpoint checkpoint;
  checkpoint.state = {.epoch = epoch_,
                      .interrupted = interrupted,
                      .batches = interrupted ? batches_ : 0,
                      .items = interrupted && batches_ > 0 ? train_metrics_.items() : 0,
                      .steps = steps_,
                      .seed = static_cast<std::int64_t>(seed_),
                      .stream_seed = static_cast<std::int64_t>(stream_.seed),
                      .stream_offset = static_cast<std::int64_t>(stream_.position),
                      .metrics = names(train_metrics_)};
  auto records = asked_ ? *std::exchange(asked_, std::nullopt) : ask_records();
  checkpoint.model = std::move(records.model);
  checkpoint.optimizer = std::move(records.optimizer);
  checkpoint.scheduler = scheduler_.to_record();
  checkpoint.metrics = to_record(history_);
  if (interrupted && batches_ > 0) save_gathered(train_metrics_, checkpoint.metrics);
  checkpoints_.save(checkpoint);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  events_.publish(events::CheckpointWritten{epoch_, steps_, seconds.count(), interrupted});
  if (!interrupted) checkpoints_.keep_only(kept_epochs(strategies_, train_metrics_, history_));
}

void Engine::tell_interruption(bool inside_epoch) {
  auto text = inside_epoch ? fmt::format("interrupted in epoch {} after {} batches", epoch_, batches_)
                           : fmt::format("interrupted before epoch {}", epoch_);
  if (const auto reason = options_.interrupter.reason(); !reason.empty()) text += " (" + reason + ")";
  text += options_.checkpoints ? "; resume goes on from there" : "; there is no checkpoint of it to resume from";
  tell(std::move(text));
}

void Engine::tell(std::string text, events::Level level) { events_.publish(events::Message{level, std::move(text)}); }

void Engine::tell_start() {
  events::Start start{.name = options_.artifact_dir.filename().string(), .device = device_.url()};
  for (const auto& metric : train_metrics_.metrics()) {
    start.metrics.push_back({metric->name(), metric->label(), metric->higher_is_better(), metric->value_format()});
  }
  start.epochs = options_.epochs;
  start.resumed = options_.resume.has_value();
  start.epoch = resumed_from_;
  start.step = steps_;
  events_.publish(std::move(start));
}

void Engine::tell_split(Split split, double seconds, const metric::MetricSet& metrics) {
  for (const auto& metric : metrics.metrics()) {
    if (metric->is_text()) events_.publish(events::TextPoint{metric->name(), split, steps_, metric->text()});
  }
  events_.publish(events::SplitEnd{split, epoch_, steps_, metrics.items(), metrics.skipped(), seconds,
                                   values_of(metrics, metrics.values())});
}

}  // namespace burn::train
