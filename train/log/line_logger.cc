#include <fstream>

#include "train/log/loggers.h"

namespace burn::train {

void LineLogger::event(const events::Event& event) {
  if (const auto* start = std::get_if<events::Start>(&event.body)) open(*start);
  write(event);
}

void LineLogger::open(const events::Start& start) {
  metrics_ = start.metrics;
  std::string kept;
  if (start.resumed) {
    std::ifstream before(path_);
    for (std::string line; std::getline(before, line);) {
      if (line != header() && keeps(line, start)) kept += line + "\n";
    }
  }
  const auto first = header();
  pending_ = (first.empty() ? "" : first + "\n") + kept + pending_;  // messages may have arrived before the Start
  file_.emplace(path_);
  file_->cut(0);
}

void LineLogger::flush() {
  if (!file_ || pending_.empty()) return;
  file_->write(pending_);
  pending_.clear();
}

std::string LineLogger::metric_name(std::int32_t metric) const {
  const auto index = static_cast<std::size_t>(metric);
  return metric >= 0 && index < metrics_.size() ? metrics_[index].name : "metric " + std::to_string(metric);
}

}  // namespace burn::train
