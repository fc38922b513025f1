// The engine's epochs: steps, validations, and the work after each of them.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "train/learner/batch_recording.h"
#include "train/learner/checkpoint_data.h"
#include "train/learner/engine.h"

namespace burn::train {

void Engine::flush() {
  for (const auto& device : devices_) device.flush();
}

void Engine::seed_epoch() {
  for (std::size_t k = 0; k < devices_.size(); ++k) {
    if (k < resumed_streams_.size())
      devices_[k].state()->continue_random_state(resumed_streams_[k]);
    else
      devices_[k].seed(seed_of_epoch(seed_ + k, epoch_));
  }
  resumed_streams_.clear();
}

void Engine::store_random_streams() {
  streams_.clear();
  for (const auto& device : devices_) streams_.push_back(device.state()->sent_random_state());
}

Pass& Engine::begin_train_pass() {
  if (batches_ == 0) train_metrics_.reset();
  batches_on_their_way_.clear();
  train_pass_.reset();
  return train_pass_.emplace(train_metrics_, numbers_.train, events_, progress_of(Split::train), nullptr,
                             [this](const Error& why, std::int64_t in_a_row) { skip(why, in_a_row); });
}

std::optional<StopReason> Engine::train_epoch(Pass& pass) {
  clock_.begin(Phase::data);
  seed_epoch();
  work_.begin(Split::train, epoch_, batches_);
  std::optional<StopReason> why;
  while (!why) {
    clock_.begin(Phase::data);
    const bool is_there = work_.next(Split::train);
    clock_.move(take_paced_seconds(), Phase::device);
    if (!is_there) break;
    clock_.begin(Phase::recording);
    const auto steps_before = update_.steps();
    const auto measured = train_batch();
    batches_ += 1;
    is_saved_ = false;
    clock_.begin(Phase::device);
    for (const auto& [numbers, items] : measured) {
      batches_on_their_way_.push_back(batches_);
      pass.batch_sent(numbers, items, update_.steps(), optimizers_.last_rate());
    }
    clock_.begin(Phase::other);
    if (update_.steps() == steps_before) continue;
    if (!after_step(pass)) why = StopReason::interrupted;
    if (!why) why = why_end();
  }
  clock_.begin(Phase::recording);
  if (update_.finish()) call("step", [this](Callback& callback) { callback.step(*this); });
  store_random_streams();  // before unused batches are dropped
  work_.end(Split::train);
  pass.all_sent();
  clock_.begin(Phase::device);
  if (why == StopReason::interrupted) pass.finish();
  clock_.begin(Phase::other);
  return why;
}

std::vector<Engine::Measured> Engine::train_batch() {
  auto parts = work_.step(Split::train);
  std::vector<Measured> measured;
  for (const auto& part : parts) {
    if (part.weight > 0) measured.push_back({train_metrics_.measure(part.output), part.output.items});
  }
  (void)update_.add(std::move(parts));
  return measured;
}

bool Engine::after_step(Pass& pass) {
  const auto steps = update_.steps();
  if (!options_.callbacks.empty()) store_random_streams();       // a callback may throw, which leads to a checkpoint
  const bool is_last = batches_ == work_.batches(Split::train);  // then the epoch's own validation follows
  if (options_.validate_every && steps % *options_.validate_every == 0 && !is_last && metrics_.has(Split::valid)) {
    validate_within_epoch(pass);
    if (should_stop()) return false;
  }
  if (keeps_snapshots_ && options_.checkpoints) rehearse_snapshot();
  call("step", [this](Callback& callback) { callback.step(*this); });
  (void)take_outcomes(false);
  if (checkpoints_.is_due(steps) && !is_last) {
    clock_.begin(Phase::checkpoint);
    store_random_streams();
    pass.drain();  // the checkpoint includes the metrics' partial results
    save(CheckpointKind::within_epoch);
    clock_.begin(Phase::other);
  }
  return true;
}

void Engine::validate_within_epoch(Pass& training) {
  const auto begin = Clock::now();
  training.drain();
  if (!validate(nullptr, [] {})) return;
  validations_.push_back({update_.steps(), epoch_, valid_metrics_.values()});
  tell_split(Split::valid, valid_seconds_, valid_metrics_);
  call("validation", [this](Callback& callback) { callback.validation(*this); });
  training.exclude(Clock::now() - begin);
}

bool Engine::validate_epoch(Pass& trained, bool is_final) {
  if (options_.checkpoints) asked_ = ask_records();  // validation does not change them; read meanwhile
  const auto before_the_end = [&] {
    if (is_final) call_at_end();
  };
  if (!metrics_.has(Split::valid)) {
    before_the_end();
    trained.finish();
    train_seconds_ = trained.seconds();
    return !should_stop();
  }
  if (!validate(&trained, before_the_end)) return false;
  train_seconds_ = trained.seconds();
  call("validation", [this](Callback& callback) { callback.validation(*this); });
  return true;
}

bool Engine::validate(Pass* before, const std::function<void()>& before_the_end) {
  clock_.begin(Phase::validation);
  valid_metrics_.reset();
  Pass pass{valid_metrics_, numbers_.valid, events_, progress_of(Split::valid), before};
  work_.begin(Split::valid, epoch_, 0, update_.averages());
  bool stopped = false;
  while (!stopped && work_.next(Split::valid)) {
    std::vector<Measured> measured;
    for (const auto& part : work_.step(Split::valid)) {
      if (part.weight > 0) measured.push_back({valid_metrics_.measure(part.output), part.output.items});
    }
    flush();
    for (const auto& [numbers, items] : measured)
      pass.batch_sent(numbers, items, update_.steps(), optimizers_.last_rate());
    stopped = should_stop();
  }
  work_.end(Split::valid);
  pass.all_sent();
  if (!stopped) before_the_end();
  pass.finish();
  (void)take_paced_seconds();
  valid_seconds_ = pass.seconds();
  clock_.begin(Phase::other);
  return !stopped;
}

void Engine::finish_epoch(bool is_whole) {
  clock_.begin(Phase::checkpoint);
  if (!is_whole && options_.checkpoints) save(CheckpointKind::within_epoch);  // its history excludes the epoch
  clock_.begin(Phase::other);
  history_.push_back({epoch_, train_metrics_.values(), {}});
  const auto write = [this](Split split, double seconds, const metric::MetricSet& metrics) {
    const auto failure = log_->write(epoch_, split, seconds, optimizers_.last_rate(), metrics);
    if (!failure.empty()) tell(failure, events::Level::error);
  };
  write(Split::train, train_seconds_, train_metrics_);
  tell_split(Split::train, train_seconds_, train_metrics_);
  if (metrics_.has(Split::valid)) {
    history_.back().valid = valid_metrics_.values();
    write(Split::valid, valid_seconds_, valid_metrics_);
    tell_split(Split::valid, valid_seconds_, valid_metrics_);
  }
  events_.publish(events::EpochEnd{epoch_, options_.epochs, update_.steps(), optimizers_.last_rate()});
  tell_phases();
  if (is_whole && optimizers_.needs_metric()) {  // schedules follow the metric that decides the best epoch
    const auto metric = find_metric("the learning rate", watched_.metric, watched_.split, metrics_);
    optimizers_.tell(history_.back().of(watched_.split)[metric]);
  }
  clock_.begin(Phase::checkpoint);
  if (is_whole && options_.checkpoints) save(CheckpointKind::epoch);
  if (!options_.checkpoints && options_.early_stopping) keep_best();
  (void)take_outcomes(false);
  clock_.begin(Phase::other);
  batches_ = 0;  // for the next epoch
  call("epoch", [this](Callback& callback) { callback.epoch(*this); });
}

// The failed step changed nothing, so the next one may succeed, unless the device is lost.
void Engine::skip(const Error& why, std::int64_t in_a_row) {
  constexpr std::int64_t kShown = 3;  // messages per epoch
  const auto is_well = [](const Device& device) { return device.state()->health().ok(); };
  if (!batches_on_their_way_.empty()) batches_on_their_way_.pop_front();
  if (!std::ranges::all_of(devices_, is_well)) throw why;
  if (in_a_row > options_.max_failures_in_a_row) throw why;
  ++skipped_;
  if (train_metrics_.skipped() <= kShown) tell(std::string{"step skipped: "} + why.what(), events::Level::warning);
  if (train_metrics_.skipped() == kShown) tell("further ones of this epoch are only counted", events::Level::warning);
}

// Called when the numbers of a batch arrive, some steps after it was sent.
bool Engine::accepts_loss(std::int64_t step, double loss) {
  const auto batch = batches_on_their_way_.front();
  batches_on_their_way_.pop_front();
  if (std::isfinite(loss)) return true;
  const auto what = fmt::format("the loss is {} in step {} (batch {} of epoch {})", loss, step, batch, epoch_);
  if (options_.on_nan == OnNan::stop) throw Error(StatusCode::failed_precondition, what);
  const bool is_skipped = options_.on_nan == OnNan::skip;
  if (is_skipped) ++skipped_;
  if (!std::exchange(nan_was_told_, true)) {
    tell(what + (is_skipped ? "; this step and others like it change nothing" : "; training goes on, see on_nan()"),
         events::Level::warning);
  }
  return !is_skipped;
}

}  // namespace burn::train
