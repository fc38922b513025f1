// The events of a training, as plain data: numbers, not texts. Renderers, loggers and dashboards receive them
// (train/events/event_sink.h), and the file <artifact_dir>/events stores them (train/events/event_file.h).
//
// Every kind of event lists its fields in fields(), in the order of the file: append new fields at the end.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace burn::train {

enum class Split : std::uint8_t { train, valid, test };
inline constexpr std::size_t kSplits = 3;

std::string_view name(Split split);  // "train", "valid", "test"

}  // namespace burn::train

namespace burn {
using train::Split;  // its former place; deprecated
}  // namespace burn

namespace burn::train::events {

// How a metric's value is formatted: "0.1234", "96.1 %", "1.00e-03".
struct ValueFormat {
  std::int32_t decimals = 4;
  bool scientific = false;
  std::string unit = {};  // appended to the number: " %"

  auto fields() { return std::tie(decimals, scientific, unit); }
};
std::string format_value(const ValueFormat& format, double value);

struct MetricInfo {
  std::string name, label;  // "Accuracy", "acc"
  bool higher_is_better = false;
  ValueFormat format;

  auto fields() { return std::tie(name, label, higher_is_better, format); }
};

// `metric` is an index into Start::metrics.
struct MetricValue {
  std::int32_t metric = 0;
  double value = 0;

  auto fields() { return std::tie(metric, value); }
};

// The first event of a run; another one follows when the run is resumed. It invalidates earlier points of the run after
// `step` and of epochs after `epoch`: they are computed again.
struct Start {
  std::string run = {};     // a random identifier; the same when a run is resumed
  std::string name = {};    // the run's name for display: the last part of its folder
  std::string device = {};  // the training's device
  std::vector<MetricInfo> metrics = {};
  std::int64_t epochs = 0;     // planned
  std::int64_t max_steps = 0;  // planned; 0: limited by the epochs only
  bool resumed = false;
  std::int64_t epoch = 0, step = 0;  // complete ones; a resumed run continues after them

  auto fields() { return std::tie(run, name, device, metrics, epochs, max_steps, resumed, epoch, step); }
};

struct SplitStart {
  Split split = Split::train;
  std::int64_t epoch = 1;
  std::int64_t total_items = 0;

  auto fields() { return std::tie(split, epoch, total_items); }
};

// The progress of the current pass over a split. Counts what the device has finished.
struct Progress {
  Split split = Split::train;
  std::int64_t epoch = 1, epochs = 1;
  std::int64_t step = 0;  // optimizer steps since the run began
  std::int64_t items = 0, total_items = 0;
  std::int64_t skipped = 0;  // batches whose step failed and changed nothing; their items are counted
  double seconds = 0;        // since the pass began
  double items_per_second = 0;
  double seconds_left = 0;               // until the end of the pass
  double rate = 0;                       // the learning rate
  std::vector<MetricValue> values = {};  // over the pass so far

  auto fields() {
    return std::tie(split, epoch, epochs, step, items, total_items, skipped, seconds, items_per_second, seconds_left,
                    rate, values);
  }
};

// The values of a metric for the batches of the steps first_step to step: one step, or several if there are more than
// 50 steps per second.
struct MetricPoint {
  std::int32_t metric = 0;
  Split split = Split::train;
  std::int64_t first_step = 0, step = 0;
  std::int64_t count = 1;  // number of finite values; mean, min and max are over these
  std::int64_t not_finite = 0;
  double mean = 0, min = 0, max = 0;

  static MetricPoint of(std::int32_t metric, Split split, std::int64_t step, double value);
  void add(const MetricPoint& later);  // Requires: the same metric and split

  auto fields() { return std::tie(metric, split, first_step, step, count, not_finite, mean, min, max); }
};

// The result of a metric whose result is a text.
struct TextPoint {
  std::string metric;
  Split split = Split::train;
  std::int64_t step = 0;
  std::string text;

  auto fields() { return std::tie(metric, split, step, text); }
};

// The end of a pass over a split. `step`: the number of optimizer steps at that moment.
struct SplitEnd {
  Split split = Split::train;
  std::int64_t epoch = 1, step = 0;
  std::int64_t items = 0, skipped = 0;
  double seconds = 0;
  std::vector<MetricValue> values = {};

  auto fields() { return std::tie(split, epoch, step, items, skipped, seconds, values); }
};

struct EpochEnd {
  std::int64_t epoch = 1, epochs = 1, step = 0;
  double rate = 0;  // the learning rate of the last step

  auto fields() { return std::tie(epoch, epochs, step, rate); }
};

struct CheckpointWritten {
  std::int64_t epoch = 0, step = 0;
  double seconds = 0;
  bool interrupted = false;  // written because the training was told to stop

  auto fields() { return std::tie(epoch, step, seconds, interrupted); }
};

enum class Level : std::uint8_t { info, warning, error };

struct Message {
  Level level = Level::info;
  std::string text;

  auto fields() { return std::tie(level, text); }
};

// How the training thread spent its time since the start, in seconds.
struct Phases {
  double waiting_for_data = 0, recording = 0, sending = 0, waiting_for_numbers = 0, checkpoint = 0, other = 0;
  std::int32_t workers = 0, cores = 0;  // threads of the loader, cores of the machine; 0: not known

  auto fields() {
    return std::tie(waiting_for_data, recording, sending, waiting_for_numbers, checkpoint, other, workers, cores);
  }
  double total() const { return waiting_for_data + recording + sending + waiting_for_numbers + checkpoint + other; }
};

// One sentence about the largest share: "38 % of the time waits for the loader: num_workers 2 of 16 cores". Empty if no
// share is large.
std::string advice(const Phases& phases);

// One row of the table at the end: a metric's extremes over the epochs.
struct SummaryRow {
  Split split = Split::train;
  std::int32_t metric = 0;
  double min = 0, max = 0;
  std::int64_t min_epoch = 0, max_epoch = 0;

  auto fields() { return std::tie(split, metric, min, max, min_epoch, max_epoch); }
};

struct Summary {
  std::vector<SummaryRow> rows;

  auto fields() { return std::tie(rows); }
};

enum class Ended : std::uint8_t { completed, stopped_early, interrupted, failed };
std::string_view name(Ended reason);  // "completed", "stopped early", ...

struct End {
  Ended reason = Ended::completed;
  std::string text;  // message of a failure

  auto fields() { return std::tie(reason, text); }
};

using Body = std::variant<Start, SplitStart, Progress, MetricPoint, TextPoint, SplitEnd, EpochEnd, CheckpointWritten,
                          Message, Phases, Summary, End>;

struct Event {
  std::int64_t time_us = 0;  // since 1970, UTC
  Body body;
};

std::int64_t now_us();

}  // namespace burn::train::events
