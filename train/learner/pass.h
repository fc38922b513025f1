// One pass over a split: its metrics, its clock, and the events that tell how far it is.
//
// A pass is not over when its last batch is sent: the numbers of that are still coming. The next pass does not wait for
// them, or the device would be without work for a round trip; it only keeps to the order: of its own nothing is taken
// in or told before that, and its clock starts then.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "train/events/event_stream.h"
#include "train/metric/metric_set.h"

namespace burn::train {

// `values`: one for each metric; `numbers`: those of the metrics in events. Metrics that are texts are left out.
std::vector<events::MetricValue> values_of(const metric::MetricSet& metrics, std::span<const double> values,
                                           const std::vector<std::int32_t>& numbers);

class Pass {
 public:
  using Clock = std::chrono::steady_clock;

  // `numbers`: of the metrics in events; they outlive the pass. `told` says which epoch, which split, and how many
  // items there are. `before`: a pass that may not be over, and stays where it is. `failed`: told of the steps that
  // failed; without it they end the pass. Starts the clock.
  Pass(metric::MetricSet& metrics, const std::vector<std::int32_t>& numbers, events::EventStream& stream,
       events::Progress told, Pass* before = nullptr, metric::MetricSet::Failed failed = {});
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // After a batch whose step has been sent: asks for its numbers, takes in those of earlier ones, tells how far it is.
  // `step`: of the optimizer, since the beginning of the run; `rate`: the learning rate.
  void batch_sent(const metric::Packed& measured, std::int64_t items, std::int64_t step, double rate);
  // Waits for the numbers of all batches so far; others may follow. Requires: the pass before is over.
  void drain() { advance(0); }
  // So much time was spent on something else.
  void leave_out(Clock::duration time) { start_ += time; }
  // No batch follows.
  void all_sent();
  // Waits for all numbers, and for those of the pass before.
  void finish();
  double seconds() const;  // until now, or to the end

 private:
  bool is_over() const { return end_.has_value(); }
  void advance(std::size_t pending);
  void tell_start();
  void tell_progress();

  metric::MetricSet& metrics_;
  const std::vector<std::int32_t>& numbers_;
  events::EventStream& stream_;
  events::Progress progress_;
  const std::int64_t items_before_;  // of an interrupted pass that goes on
  Pass* before_;                     // null: it is over
  const metric::MetricSet::Failed failed_;
  bool all_sent_ = false;
  Clock::time_point start_;
  std::optional<Clock::time_point> end_;
};

}  // namespace burn::train
