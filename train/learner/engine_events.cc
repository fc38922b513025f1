// The engine's events and messages, and the calls of callbacks.
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "train/learner/engine.h"

namespace burn::train {

void Engine::tell(std::string text, events::Level level) { events_.publish(events::Message{level, std::move(text)}); }

void Engine::tell_start() {
  events::Start start{.run = run_, .name = options_.artifact_dir.filename().string(), .device = device_.url()};
  for (const auto* metric : numbers_.all)
    start.metrics.push_back({metric->name(), metric->label(), metric->higher_is_better(), metric->value_format()});
  start.epochs = options_.epochs;
  start.max_steps = options_.max_steps.value_or(0);
  start.resumed = options_.resume.has_value();
  start.epoch = resumed_from_;
  start.step = update_.steps();
  events_.publish(std::move(start));
}

events::Progress Engine::progress_of(Split split) const {
  events::Progress told{.split = split, .epoch = epoch_, .epochs = options_.epochs};
  told.total_items = work_.items(split);
  return told;
}

void Engine::tell_split(Split split, double seconds, const metric::MetricSet& metrics) {
  for (const auto& metric : metrics.metrics()) {
    if (metric->is_text()) events_.publish(events::TextPoint{metric->name(), split, update_.steps(), metric->text()});
  }
  events_.publish(events::SplitEnd{split, epoch_, update_.steps(), metrics.items(), metrics.skipped(), seconds,
                                   values_of(metrics, metrics.values(), numbers_.of(split))});
}

void Engine::tell_interruption(bool inside_epoch, bool is_saved) {
  auto text = inside_epoch ? fmt::format("interrupted in epoch {} after {} batches", epoch_, batches_)
                           : fmt::format("interrupted before epoch {}", epoch_);
  if (const auto reason = options_.interrupter.reason(); !reason.empty()) {
    text += " (" + reason + ")";
  } else if (notice_) {
    const auto left = std::chrono::ceil<std::chrono::seconds>(notice_->end - Clock::now());
    text += fmt::format(" (the worker at {} ends in {} s)", notice_->url, std::max<std::int64_t>(left.count(), 0));
  }
  text += options_.checkpoints && is_saved ? "; resume goes on from there"
                                           : "; there is no checkpoint of it to resume from";
  tell(std::move(text));
}

void Engine::tell_phases() {
  const auto& profile = clock_.profile();
  events::Phases phases;
  phases.waiting_for_data = profile.of(Phase::data);
  phases.recording = profile.of(Phase::recording);
  phases.waiting_for_numbers = profile.of(Phase::device);
  phases.checkpoint = profile.of(Phase::checkpoint);
  phases.other = profile.of(Phase::validation) + profile.of(Phase::other);
  phases.workers = static_cast<std::int32_t>(profile.workers);
  phases.cores = static_cast<std::int32_t>(profile.cores);
  events_.publish(phases);
}

void Engine::tell_profile() {
  tell_phases();
  if (!options_.profile) return;
  const auto& profile = clock_.profile();
  tell("where the time went: " + profile.shares());
  tell(profile.advice());
}

void Engine::call(const char* moment, const std::function<void(Callback&)>& body) {
  for (const auto& callback : options_.callbacks) {
    const auto context = [&] { return fmt::format("callback {} ({})", callback->name(), moment); };
    try {
      body(*callback);
    } catch (const Error& error) {
      throw CallbackError(error.status().with_context(context()));
    } catch (const std::exception& error) {
      throw CallbackError(StatusCode::unknown, context() + ": " + error.what());
    }
  }
}

double Engine::value(Split split, const std::string& metric) const {
  return metrics_.of(split).metrics()[find_metric("value", metric, split, metrics_)]->value();
}

void Engine::stop(const std::string& why) {
  if (!stop_asked_.empty()) return;
  stop_asked_ = why.empty() ? "a callback has asked for it" : why;
  tell("the training ends: " + stop_asked_);
}

}  // namespace burn::train
