// One pass over a split: its metrics, its clock, and what is shown of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "train/metric/metric_set.h"
#include "train/render/renderer.h"

namespace burn::train {

// The metrics as they are written in a line: the loss first, the others in the order given.
std::vector<ShownValue> shown_values(const metric::MetricSet& metrics);

class Pass {
 public:
  // `shown` says which epoch, which split, and how many items there are. Starts the clock.
  Pass(metric::MetricSet& metrics, Renderer& renderer, Progress shown);

  // After a batch whose step has been sent: asks for its numbers, takes in those of earlier ones, shows how far it is.
  void batch_sent(const client::Value& measured, std::int64_t items);
  // Waits for all numbers.
  void finish();
  double seconds() const;

 private:
  void show();

  metric::MetricSet& metrics_;
  Renderer& renderer_;
  Progress progress_;
  const std::int64_t items_before_;  // of an interrupted pass that goes on
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace burn::train
