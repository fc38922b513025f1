// The part of an evaluation that is free of the types of model and batch.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "client/where.h"
#include "train/events/event_stream.h"
#include "train/metric/metric_set.h"
#include "train/render/renderer.h"

namespace burn::train {

// A metric after a whole evaluation.
struct EvaluatedMetric {
  std::string name;
  double value = 0;  // NaN of a text, and of what has no value
  std::string text;  // as it is written: "97.1 %"
};

struct Evaluation {
  std::string name;  // of the set of items: "test"
  std::int64_t items = 0;
  double seconds = 0;
  std::vector<EvaluatedMetric> metrics;

  // Errors: NOT_FOUND with those that there are.
  const EvaluatedMetric& metric(std::string_view metric_name) const;
  double value(std::string_view metric_name) const { return metric(metric_name).value; }
};

struct EvaluatorOptions {
  std::filesystem::path artifact_dir;
  std::vector<metric::MetricFactory> metrics;  // none: the loss
  std::shared_ptr<Renderer> renderer;          // none: on stdout
  std::vector<std::shared_ptr<events::EventSink>> loggers;
  bool summary = true;
};

// One evaluation under way, by one thread.
class EvaluationPass {
 public:
  // Errors: those of MetricSet.
  EvaluationPass(const EvaluatorOptions& options, std::string name, std::int64_t total_items);

  // Measures a batch whose step has been recorded, sends it, and takes in what has arrived of earlier ones. Waits only
  // while too many batches are on their way. Errors: what a metric lacks; what went wrong on the device.
  void batch(const StepOutput& output);
  // Waits for the rest, tells the result, and writes its line to <artifact_dir>/evaluation.jsonl, in the place of an
  // earlier one of that name.
  Evaluation finish();

 private:
  using Clock = std::chrono::steady_clock;

  void tell_progress();
  void write(const Evaluation& result) const;

  const EvaluatorOptions& options_;
  const std::string name_;
  const std::int64_t total_items_;
  metric::MetricSet metrics_;
  events::EventStream events_;
  const Clock::time_point start_;
};

}  // namespace burn::train
