// What is shown of a training while it runs: an interface, so that a program can show it in its own way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/events/event.h"

namespace burn::train {

// A metric and its value so far, as it is written: {"acc", "96.1 %"}.
struct ShownValue {
  std::string label, text;
};

// How far the current split of an epoch is. Counts what the device has finished.
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

// An epoch that is over.
struct EpochSummary {
  std::int64_t epoch = 1, epochs = 1;
  std::vector<ShownValue> train, valid;
  std::int64_t skipped = 0;  // steps of training that failed and changed nothing
};

// How a metric went over a training.
struct MetricSummary {
  Split split = Split::train;
  std::string name;
  std::string min, max;  // as written
  std::int64_t min_epoch = 0, max_epoch = 0;
};

// Its functions are called by the thread of an EventStream (train/events/event_stream.h), never by the thread that
// trains. Time spent in them delays other renderers and loggers, but no step. progress() comes up to 50 times a second.
class Renderer {
 public:
  virtual ~Renderer() = default;
  virtual void progress(const Progress& progress) = 0;
  virtual void epoch(const EpochSummary& summary) = 0;
  virtual void message(const std::string& text) = 0;  // "early stopping: ...", "interrupted ..."
  // At the end, where a summary was asked for.
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
