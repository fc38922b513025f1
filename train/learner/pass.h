// One pass over a split: its metrics, its clock, and its progress events.
//
// A pass does not end when its last batch is sent, as its results are still to arrive. The next pass does not wait for
// them, or the device would be idle for a round trip. It only preserves the order: its own results are processed and
// published after the end of the previous pass, and its clock starts then.
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

// `values`: one for each metric; `numbers`: the numbers of the metrics in events. Omits metrics whose result is a text.
std::vector<events::MetricValue> values_of(const metric::MetricSet& metrics, std::span<const double> values,
                                           const std::vector<std::int32_t>& numbers);

class Pass {
 public:
  using Clock = std::chrono::steady_clock;

  // `numbers`: the numbers of the metrics in events; they must outlive the pass. `told` has the epoch, the split, and
  // the number of items. `before`: the previous pass, which may not have ended and must not be moved. `failed`: called
  // for failed steps; without it they end the pass. Starts the clock.
  Pass(metric::MetricSet& metrics, const std::vector<std::int32_t>& numbers, events::EventStream& stream,
       events::Progress told, Pass* before = nullptr, metric::MetricSet::Failed failed = {});
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  // Must be called after the step of a batch was sent: starts reading its measurements, processes those of earlier
  // batches, and publishes the progress. `step`: optimizer steps since the run began; `rate`: the learning rate.
  void batch_sent(const metric::Packed& measured, std::int64_t items, std::int64_t step, double rate);
  // Waits for the results of all batches so far; others may follow. Requires: the previous pass has ended.
  void drain() { advance(0); }
  // Excludes `time`, which was spent on something else, from the duration of the pass.
  void exclude(Clock::duration time) { start_ += time; }
  // Declares that no batch follows.
  void all_sent();
  // Waits for all results of this pass and the previous one.
  void finish();
  double seconds() const;  // from the start until the end, or until now

 private:
  bool is_over() const { return end_.has_value(); }
  void advance(std::size_t pending);
  void tell_start();
  void tell_progress();

  metric::MetricSet& metrics_;
  const std::vector<std::int32_t>& numbers_;
  events::EventStream& stream_;
  events::Progress progress_;
  const std::int64_t items_before_;  // items before the resume of an interrupted pass
  Pass* before_;                     // the previous pass; null: it has ended
  const metric::MetricSet::Failed failed_;
  bool all_sent_ = false;
  Clock::time_point start_;
  std::optional<Clock::time_point> end_;
};

}  // namespace burn::train
