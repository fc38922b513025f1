#include "train/events/event_stream.h"

#include <chrono>
#include <exception>
#include <utility>

#include "base/thread.h"

namespace burn::train::events {
namespace {

constexpr std::chrono::milliseconds kInterval{20};

}  // namespace

EventStream::EventStream(std::vector<std::shared_ptr<EventSink>> sinks, std::vector<Observer> observers)
    : sinks_(std::move(sinks)), observers_(std::move(observers)) {
  for (const auto& sink : sinks_) {
    for (auto& notice : sink->notices()) queue_.push_back({now_us(), std::move(notice)});
  }
  if (!sinks_.empty()) thread_ = start_thread("burn-events", [this] { run(); });
}

EventStream::~EventStream() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void EventStream::publish(Body body) {
  if (!is_watched()) return;
  Event event{now_us(), std::move(body)};
  for (const auto& observe : observers_) observe(event);
  if (!thread_.joinable()) return;
  const std::lock_guard lock(mutex_);
  ++published_;
  if (std::holds_alternative<MetricPoint>(event.body)) return merge(event);
  if (std::holds_alternative<Progress>(event.body)) {
    progress_ = std::move(event);
    return;
  }
  if (queue_.size() < kCapacity) queue_merged();
  queue_.push_back(std::move(event));
}

void EventStream::merge(const Event& event) {
  const auto& point = std::get<MetricPoint>(event.body);
  const auto metric = static_cast<std::size_t>(point.metric);
  if (metric >= points_.size()) points_.resize(metric + 1);
  auto& merged = points_[metric].at(static_cast<std::size_t>(point.split));
  if (merged)
    std::get<MetricPoint>(merged->body).add(point);
  else
    merged = event;
  has_points_ = true;
}

void EventStream::queue_merged() {
  if (std::exchange(has_points_, false)) {
    for (auto& splits : points_) {
      for (auto& point : splits) {
        if (point) queue_.push_back(*std::exchange(point, std::nullopt));
      }
    }
  }
  if (progress_) queue_.push_back(*std::exchange(progress_, std::nullopt));
}

void EventStream::flush() {
  if (!thread_.joinable()) return;
  std::unique_lock lock(mutex_);
  const auto wanted = published_;
  is_urgent_ = true;
  changed_.notify_one();
  delivered_.wait(lock, [&] { return done_ >= wanted; });
}

void EventStream::run() {
  while (auto batch = next()) {
    const auto& [events, published] = *batch;  // NOLINT(bugprone-unchecked-optional-access): the loop's condition
    for (const auto& event : events) deliver(event);
    for (std::size_t i = 0; i < sinks_.size(); ++i) tell(i, [](EventSink& sink) { sink.flush(); });
    const std::lock_guard lock(mutex_);
    done_ = published;
    delivered_.notify_all();
  }
}

std::optional<EventStream::Batch> EventStream::next() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kInterval, [&] { return is_urgent_ || is_over_; });
  is_urgent_ = false;
  queue_merged();
  if (queue_.empty() && is_over_) return std::nullopt;
  return Batch{std::exchange(queue_, {}), published_};
}

void EventStream::deliver(const Event& event) {
  for (std::size_t i = 0; i < sinks_.size(); ++i) tell(i, [&](EventSink& sink) { sink.event(event); });
}

// Calls a sink. If it throws, it is not called any more, and the others get a message.
template <typename Call>
void EventStream::tell(std::size_t sink, Call&& call) {
  if (!sinks_[sink]) return;
  std::string what = "an exception that is no std::exception";
  try {
    return call(*sinks_[sink]);
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
  }
  const auto failed = std::exchange(sinks_[sink], nullptr);
  deliver({now_us(), Message{Level::warning, failed->name() + " failed and is told nothing more: " + what}});
}

}  // namespace burn::train::events
