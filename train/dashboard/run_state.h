// The state of a run, computed from its events in bounded memory; both dashboards show it.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "train/dashboard/series.h"
#include "train/events/device_use.h"
#include "train/events/event.h"

namespace burn::train::dashboard {

// The value of a metric in one epoch.
struct EpochValue {
  std::int64_t epoch = 0, step = 0;
  double value = 0;
};

// The values of a metric on one split over time.
struct Curve {
  Series steps;   // by optimizer step
  Series epochs;  // one point for each pass over the split
  std::optional<EpochValue> last;
  // Each value that was better than all before it; the last one is the best.
  std::vector<EpochValue> improvements;

  bool empty() const { return steps.empty() && epochs.empty(); }
  const EpochValue* best() const { return improvements.empty() ? nullptr : &improvements.back(); }
};

struct LoggedMessage {
  std::int64_t time_us = 0;
  events::Level level = events::Level::info;
  std::string text;
};

// One thread at a time.
class RunState {
 public:
  static constexpr std::size_t kMessages = 500;

  void add(const events::Event& event);

  const events::Start& start() const { return start_; }
  const std::vector<events::MetricInfo>& metrics() const { return start_.metrics; }
  bool has_begun() const { return has_begun_; }
  // The curve of a metric, by its index in metrics().
  const Curve& curve(std::size_t metric, Split split) const {
    return curves_.at(metric).at(static_cast<std::size_t>(split));
  }
  // The last text of a metric on a split, if its result is a text; empty if there is none yet.
  const std::string& text(std::size_t metric, Split split) const {
    return texts_.at(metric).at(static_cast<std::size_t>(split));
  }
  bool is_text(std::size_t metric) const {
    return std::ranges::any_of(texts_.at(metric), [](const std::string& text) { return !text.empty(); });
  }
  std::int64_t points() const { return points_; }  // in all curves together
  const std::optional<events::Progress>& progress() const { return progress_; }
  const std::optional<events::CheckpointWritten>& checkpoint() const { return checkpoint_; }
  std::int64_t checkpoint_us() const { return checkpoint_us_; }
  const std::optional<events::Phases>& phases() const { return phases_; }
  const std::optional<events::End>& end() const { return end_; }  // none if it still runs or was killed
  const std::deque<LoggedMessage>& messages() const { return messages_; }
  std::int64_t first_us() const { return first_us_; }  // times of the first and last event
  std::int64_t last_us() const { return last_us_; }
  std::int64_t step() const { return step_; }
  std::int64_t epoch() const { return epoch_; }  // the last complete epoch
  // The use of the device; known only if the training runs in this process.
  const std::optional<events::DeviceUse>& device_use() const { return device_use_; }
  void set_device_use(std::optional<events::DeviceUse> use) { device_use_ = use; }
  // Seconds until the planned end, validation included; none if not known yet.
  std::optional<double> seconds_left() const;

 private:
  void begin(const events::Start& start, std::int64_t time_us);
  void add_end(const events::SplitEnd& end);
  void add_text(const events::TextPoint& point, std::int64_t time_us);
  void note(std::int64_t time_us, events::Level level, std::string text);

  events::Start start_;
  bool has_begun_ = false;
  std::vector<std::array<Curve, kSplits>> curves_;
  std::vector<std::array<std::string, kSplits>> texts_;
  std::int64_t points_ = 0;
  std::optional<events::Progress> progress_;
  std::optional<events::CheckpointWritten> checkpoint_;
  std::optional<events::Phases> phases_;
  std::optional<events::End> end_;
  std::optional<events::DeviceUse> device_use_;
  std::deque<LoggedMessage> messages_;
  std::array<double, kSplits> split_seconds_{};  // duration of the last complete pass
  std::int64_t first_us_ = 0, last_us_ = 0, checkpoint_us_ = 0;
  std::int64_t step_ = 0, epoch_ = 0;
};

}  // namespace burn::train::dashboard
