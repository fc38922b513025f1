#include <algorithm>

#include "train/log/loggers.h"

namespace burn::train {

void MemoryLogger::event(const events::Event& event) {
  const std::lock_guard lock(mutex_);
  if (const auto* start = std::get_if<events::Start>(&event.body)) metrics_ = start->metrics;
  if (const auto* point = std::get_if<events::MetricPoint>(&event.body)) points_.push_back(*point);
  if (const auto* end = std::get_if<events::SplitEnd>(&event.body)) ends_.push_back(*end);
  if (const auto* message = std::get_if<events::Message>(&event.body)) messages_.push_back(message->text);
}

std::optional<std::int32_t> MemoryLogger::find(const std::string& metric) const {
  const auto found =
      std::find_if(metrics_.begin(), metrics_.end(), [&](const auto& info) { return info.name == metric; });
  if (found == metrics_.end()) return std::nullopt;
  return static_cast<std::int32_t>(found - metrics_.begin());
}

std::vector<events::MetricPoint> MemoryLogger::points(const std::string& metric, Split split) const {
  const std::lock_guard lock(mutex_);
  const auto index = find(metric);
  std::vector<events::MetricPoint> found;
  for (const auto& point : points_) {
    if (index == point.metric && point.split == split) found.push_back(point);
  }
  return found;
}

std::vector<MemoryLogger::Value> MemoryLogger::epochs(const std::string& metric, Split split) const {
  const std::lock_guard lock(mutex_);
  const auto index = find(metric);
  std::vector<Value> found;
  for (const auto& end : ends_) {
    if (end.split != split) continue;
    for (const auto& value : end.values) {
      if (index == value.metric) found.push_back({end.step, value.value});
    }
  }
  return found;
}

std::vector<std::string> MemoryLogger::messages() const {
  const std::lock_guard lock(mutex_);
  return messages_;
}

}  // namespace burn::train
