// One pass over a split: its metrics, its clock, and what is shown of it.
//
// A pass is not over when its last batch is sent: the numbers of that are still coming. The next pass does not wait for
// them, or the device would be without work for a round trip; it only keeps to the order: of its own nothing is taken
// in or shown before that, and its clock starts then.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "train/metric/metric_set.h"
#include "train/render/renderer.h"

namespace burn::train {

// The metrics as they are written in a line: the loss first, the others in the order given.
std::vector<ShownValue> shown_values(const metric::MetricSet& metrics);

class Pass {
 public:
  // `shown` says which epoch, which split, and how many items there are. `before`: a pass that may not be over, and
  // stays where it is. `failed`: told of the steps that failed; without it they end the pass. Starts the clock.
  Pass(metric::MetricSet& metrics, Renderer& renderer, Progress shown, Pass* before = nullptr,
       metric::MetricSet::Failed failed = {});
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // After a batch whose step has been sent: asks for its numbers, takes in those of earlier ones, shows how far it is.
  void batch_sent(const client::Value& measured, std::int64_t items);
  // No batch follows.
  void all_sent();
  // Waits for all numbers, and for those of the pass before.
  void finish();
  double seconds() const;  // until now, or to the end

 private:
  using Clock = std::chrono::steady_clock;

  bool is_over() const { return end_.has_value(); }
  void advance(std::size_t pending);
  void show();

  metric::MetricSet& metrics_;
  Renderer& renderer_;
  Progress progress_;
  const std::int64_t items_before_;  // of an interrupted pass that goes on
  Pass* before_;                     // null: it is over
  const metric::MetricSet::Failed failed_;
  bool all_sent_ = false;
  Clock::time_point start_;
  std::optional<Clock::time_point> end_;
};

}  // namespace burn::train
