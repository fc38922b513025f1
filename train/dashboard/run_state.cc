#include "train/dashboard/run_state.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/overloaded.h"

namespace burn::train::dashboard {

void RunState::add(const events::Event& event) {
  if (first_us_ == 0) first_us_ = event.time_us;
  last_us_ = event.time_us;
  std::visit(Overloaded{[&](const events::Start& start) { begin(start, event.time_us); },
                        [&](const events::MetricPoint& point) {
                          const auto metric = static_cast<std::size_t>(point.metric);
                          if (point.metric < 0 || metric >= curves_.size()) return;
                          curves_[metric].at(static_cast<std::size_t>(point.split)).steps.add(point);
                          if (point.split == Split::train) step_ = std::max(step_, point.step);
                          ++points_;
                        },
                        [&](const events::Progress& progress) {
                          progress_ = progress;
                          step_ = std::max(step_, progress.step);
                        },
                        [&](const events::SplitEnd& end) { add_end(end); },
                        [&](const events::EpochEnd& end) {
                          epoch_ = end.epoch;
                          step_ = end.step;
                        },
                        [&](const events::CheckpointWritten& checkpoint) {
                          checkpoint_ = checkpoint;
                          checkpoint_us_ = event.time_us;
                        },
                        [&](const events::Message& message) { note(event.time_us, message.level, message.text); },
                        [&](const events::TextPoint& point) { add_text(point, event.time_us); },
                        [&](const events::Phases& phases) { phases_ = phases; },
                        [&](const events::End& end) {
                          end_ = end;
                          device_use_.reset();
                          if (!end.text.empty()) note(event.time_us, events::Level::error, end.text);
                        },
                        [](const auto&) {}},
             event.body);
}

void RunState::begin(const events::Start& start, std::int64_t time_us) {
  const bool goes_on = has_begun_ && start.resumed && start.run == start_.run && curves_.size() == start.metrics.size();
  if (!goes_on) {
    auto messages = std::exchange(messages_, {});
    *this = RunState{};
    if (!start.resumed) messages_ = std::move(messages);  // messages from before the first Start
    first_us_ = last_us_ = time_us;
  }
  start_ = start;
  constexpr std::int32_t kMaxDecimals = 17;  // a file may say anything
  for (auto& metric : start_.metrics) metric.format.decimals = std::clamp(metric.format.decimals, 0, kMaxDecimals);
  has_begun_ = true;
  curves_.resize(start.metrics.size());
  texts_.resize(start.metrics.size());
  progress_.reset();
  end_.reset();
  phases_.reset();
  step_ = start.step;
  epoch_ = start.epoch;
  if (!goes_on) return;
  note(time_us, events::Level::info, fmt::format("resumed after epoch {}, step {}", start.epoch, start.step));
  for (auto& splits : curves_) {
    for (auto& curve : splits) {
      curve.steps.truncate(start.step);
      curve.epochs.truncate(start.step);
      std::erase_if(curve.improvements, [&](const EpochValue& value) { return value.epoch > start.epoch; });
      if (curve.last && curve.last->epoch > start.epoch) curve.last.reset();
    }
  }
}

void RunState::add_end(const events::SplitEnd& end) {
  split_seconds_.at(static_cast<std::size_t>(end.split)) = end.seconds;
  for (const auto& [metric, value] : end.values) {
    const auto index = static_cast<std::size_t>(metric);
    if (metric < 0 || index >= curves_.size()) continue;
    auto& curve = curves_[index].at(static_cast<std::size_t>(end.split));
    curve.epochs.add(events::MetricPoint::of(metric, end.split, end.step, value));
    curve.last = EpochValue{end.epoch, end.step, value};
    ++points_;
    const auto* best = curve.best();
    const bool is_better =
        best == nullptr || (start_.metrics[index].higher_is_better ? value > best->value : value < best->value);
    if (std::isfinite(value) && is_better) curve.improvements.push_back(*curve.last);
  }
}

void RunState::add_text(const events::TextPoint& point, std::int64_t time_us) {
  note(time_us, events::Level::info,
       fmt::format("{} {} at step {}: {}", train::name(point.split), point.metric, point.step, point.text));
  const auto found = std::ranges::find(start_.metrics, point.metric, &events::MetricInfo::name);
  if (found == start_.metrics.end()) return;
  const auto metric = static_cast<std::size_t>(found - start_.metrics.begin());
  texts_[metric].at(static_cast<std::size_t>(point.split)) = point.text;
}

void RunState::note(std::int64_t time_us, events::Level level, std::string text) {
  messages_.push_back({time_us, level, std::move(text)});
  if (messages_.size() > kMessages) messages_.pop_front();
}

std::optional<double> RunState::seconds_left() const {
  if (!progress_ || end_ || progress_->items_per_second <= 0) return std::nullopt;
  const auto train = split_seconds_[static_cast<std::size_t>(Split::train)];
  const auto valid = split_seconds_[static_cast<std::size_t>(Split::valid)];
  const auto& p = *progress_;
  const auto epochs_after = static_cast<double>(std::max<std::int64_t>(p.epochs - p.epoch, 0));
  double left = p.seconds_left;
  if (p.split == Split::train) {
    const double whole = p.items > 0 ? p.seconds + p.seconds_left : train;
    return left + valid + epochs_after * (whole + valid);
  }
  return left + epochs_after * (train + p.seconds + p.seconds_left);
}

}  // namespace burn::train::dashboard
