// The part of an evaluation that does not depend on the types of model and batch.
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

// The result of a metric after an evaluation.
struct EvaluatedMetric {
  std::string name;
  double value = 0;  // NaN if the result is a text or there is no value
  std::string text;  // formatted: "97.1 %"
};

struct Evaluation {
  std::string name;  // name of the data set: "test"
  std::int64_t items = 0;
  double seconds = 0;
  std::vector<EvaluatedMetric> metrics;

  // Errors: NOT_FOUND, listing the existing metrics.
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

// A running evaluation. One thread.
class EvaluationPass {
 public:
  // Errors: those of MetricSet.
  EvaluationPass(const EvaluatorOptions& options, std::string name, std::int64_t total_items);

  // Records the metrics of a batch whose step has been recorded, sends the program, and processes results of earlier
  // batches that have arrived. Waits only while too many batches are in flight. Errors: a tensor that a metric lacks;
  // errors of the device.
  void batch(const StepOutput& output);
  // Waits for the remaining batches, publishes the result, and writes its line to <artifact_dir>/evaluation.jsonl,
  // replacing an earlier line of that name.
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
