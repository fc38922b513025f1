// The interface of displays of a training while it runs, so that a program can implement its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/events/event.h"

namespace burn::train {

// A metric and its formatted value so far: {"acc", "96.1 %"}.
struct ShownValue {
  std::string label, text;
};

// The progress of the current split of an epoch. Counts what the device has finished.
struct Progress {
  std::int64_t epoch = 1, epochs = 1;
  Split split = Split::train;
  std::int64_t items = 0, total_items = 0;
  std::int64_t skipped = 0;  // batches whose step failed and changed nothing; their items are counted
  double seconds = 0;        // since the split began
  double items_per_second = 0;
  double seconds_left = 0;
  std::vector<ShownValue> values;
};

// A complete epoch.
struct EpochSummary {
  std::int64_t epoch = 1, epochs = 1;
  std::vector<ShownValue> train, valid;
  std::int64_t skipped = 0;  // training steps that failed and had no effect
};

// A metric's best and worst values over a training.
struct MetricSummary {
  Split split = Split::train;
  std::string name;
  std::string min, max;  // formatted
  std::int64_t min_epoch = 0, max_epoch = 0;
};

// The functions are called by the thread of an EventStream (train/events/event_stream.h), never by the training thread.
// Time spent in them delays other renderers and loggers, but no step. progress() is called up to 50 times per second.
class Renderer {
 public:
  virtual ~Renderer() = default;
  virtual void progress(const Progress& progress) = 0;
  virtual void epoch(const EpochSummary& summary) = 0;
  virtual void message(const std::string& text) = 0;  // "early stopping: ...", "interrupted ..."
  // Called at the end if a summary was requested.
  virtual void summary(const std::vector<MetricSummary>& metrics) = 0;
};

// Shows nothing.
class SilentRenderer : public Renderer {
 public:
  void progress(const Progress&) override {}
  void epoch(const EpochSummary&) override {}
  void message(const std::string&) override {}
  void summary(const std::vector<MetricSummary>&) override {}
};

}  // namespace burn::train
