// The metrics of one split, and the measurements in flight from the device.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "train/metric/metric.h"
#include "train/metric/step_reads.h"

namespace burn::metric {

using MetricFactory = std::function<std::unique_ptr<Metric>()>;

// The measurements of all metrics of a set for one batch, packed into one tensor (train/metric/packing.h), and its
// structure.
struct Packed {
  client::Value numbers;              // f32 [n], at least one
  std::vector<ir::TensorType> types;  // of the tensors; none: `numbers` only shows when the batch is done
  std::vector<std::size_t> counts;    // how many tensors each metric has
  std::optional<std::size_t> loss;    // index of the loss among the tensors, if on_loss() was called
};

// One thread at a time.
class MetricSet {
 public:
  // Errors: INVALID_ARGUMENT if two metrics have the same name.
  explicit MetricSet(const std::vector<MetricFactory>& factories);

  // Records the measurements of all metrics for a batch. Errors, beginning with the metric's name: a tensor that a
  // metric needs and the step does not return, or returns with another kind or rank; what a metric throws.
  Packed measure(const StepOutput& output);
  // Adds a batch whose step has been sent; its numbers are read at once or together with those of the next batches
  // (train/metric/step_reads.h). Does not wait. `step` is passed to the function of on_batch(); `rate`: the learning
  // rate of the step.
  void push(const Packed& measured, std::int64_t items, std::int64_t step = 0, double rate = 0);
  // Called with the values of the metrics for each single batch, when its numbers are processed.
  using BatchValues = std::function<void(std::int64_t step, std::span<const double> values)>;
  void on_batch(BatchValues body) { on_batch_ = std::move(body); }
  // Called with the loss of each batch before the metrics get the batch; if it returns false, they do not get it, and
  // it counts as skipped. The loss is read for this even if no metric needs it. on_loss() must be called before the
  // first batch.
  using Accepts = std::function<bool(std::int64_t step, double loss)>;
  void on_loss(Accepts accepts) { accepts_ = std::move(accepts); }
  // Called for a batch whose step failed, with the number of successive failures. An exception ends take().
  using Failed = std::function<void(const Error& why, std::int64_t in_a_row)>;
  // Starts all reads that are still delayed, as no batch follows soon.
  void ask() { reads_.ask(); }
  // Processes the numbers that have arrived, and waits until at most `pending` batches are in flight. Errors: those of
  // the device, if `failed` is empty.
  void take(std::size_t pending, const Failed& failed = {});

  const std::vector<std::unique_ptr<Metric>>& metrics() const { return metrics_; }
  std::int64_t items() const { return items_; }                  // items processed
  std::int64_t last_step() const { return last_step_; }          // step of the last processed batch
  std::int64_t skipped_items() const { return skipped_items_; }  // of batches that failed
  std::int64_t skipped() const { return skipped_; }              // number of these batches
  std::size_t pending() const { return pending_.size(); }        // batches in flight
  std::vector<double> values() const;
  std::vector<double> values_so_far() const;  // within an epoch: Metric::value_so_far()
  std::optional<std::size_t> find(std::string_view name) const;

  std::vector<std::vector<double>> state() const;  // Requires: no batch in flight.
  void load_state(const std::vector<std::vector<double>>& state, std::int64_t items);
  void reset();

 private:
  struct Pending {
    StepReads::Read data;
    std::vector<ir::TensorType> types;
    std::vector<std::size_t> counts;
    std::optional<std::size_t> loss;
    Device device;
    std::int64_t items, step;
    double rate;
  };

  void add(const Pending& batch, const TensorData& data);
  void skip(const Pending& batch);

  std::vector<std::unique_ptr<Metric>> metrics_, batch_metrics_;  // batch_metrics_: for single batches, for on_batch_
  std::vector<std::vector<Need>> needs_;                          // of each metric
  BatchValues on_batch_;
  Accepts accepts_;
  StepReads reads_;
  std::deque<Pending> pending_;
  std::int64_t items_ = 0, last_step_ = 0;
  std::int64_t skipped_items_ = 0, skipped_ = 0, failed_in_a_row_ = 0;
};

}  // namespace burn::metric
