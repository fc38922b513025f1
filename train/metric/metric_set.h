// The metrics of one split of an epoch, and the measurements that are still on their way from the device.
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

// What all metrics of a set measure of one batch, as one tensor (train/metric/packing.h), and what is in it.
struct Packed {
  client::Value numbers;              // f32 [n], at least one
  std::vector<ir::TensorType> types;  // of the tensors; none: the numbers only say when the batch is done
  std::vector<std::size_t> counts;    // how many tensors each metric has
  std::optional<std::size_t> loss;    // which of the tensors is the loss, where on_loss() wants it
};

// One thread at a time.
class MetricSet {
 public:
  // Errors: INVALID_ARGUMENT where two metrics have one name.
  explicit MetricSet(const std::vector<MetricFactory>& factories);

  // Records what all metrics want to know of a batch. Errors, beginning with the metric's name: a tensor that a metric
  // needs and the step does not give, or gives otherwise; what a metric throws.
  Packed measure(const StepOutput& output);
  // The numbers of a batch whose step has been sent; they are asked for now or with those of the next ones
  // (train/metric/step_reads.h). Does not wait. `step` is what on_batch() is told with them; `rate`: the learning rate
  // of the step.
  void push(const Packed& measured, std::int64_t items, std::int64_t step = 0, double rate = 0);
  // Called with the values of the metrics for each batch alone, as its numbers are taken in.
  using BatchValues = std::function<void(std::int64_t step, std::span<const double> values)>;
  void on_batch(BatchValues told) { told_ = std::move(told); }
  // Called with the loss of each batch before the metrics are given it; false: they are not, and it counts as skipped.
  // The loss is read for this, whether a metric asks for it or not. Before the first batch.
  using Accepts = std::function<bool(std::int64_t step, double loss)>;
  void on_loss(Accepts accepts) { accepts_ = std::move(accepts); }
  // Told of a batch whose numbers do not come, as its step failed, and how many such there are in a row. What it throws
  // ends take().
  using Failed = std::function<void(const Error& why, std::int64_t in_a_row)>;
  // Asks for the numbers that are still to be asked for, as no batch follows soon.
  void ask() { reads_.ask(); }
  // Takes in what has arrived, and waits until no more than `pending` batches are on their way.
  // Errors: what went wrong on the device, where nothing is to be told of it.
  void take(std::size_t pending, const Failed& failed = {});

  const std::vector<std::unique_ptr<Metric>>& metrics() const { return metrics_; }
  std::int64_t items() const { return items_; }                  // taken in
  std::int64_t last_step() const { return last_step_; }          // of the batches taken in
  std::int64_t skipped_items() const { return skipped_items_; }  // of batches that failed
  std::int64_t skipped() const { return skipped_; }              // such batches
  std::size_t pending() const { return pending_.size(); }        // batches on their way
  std::vector<double> values() const;
  std::vector<double> values_so_far() const;  // in the middle of an epoch: Metric::value_so_far()
  std::optional<std::size_t> find(std::string_view name) const;

  std::vector<std::vector<double>> state() const;  // Requires: nothing on its way.
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

  std::vector<std::unique_ptr<Metric>> metrics_, of_batch_;  // of_batch_: of one batch alone, for told_
  std::vector<std::vector<Need>> needs_;                     // of each metric
  BatchValues told_;
  Accepts accepts_;
  StepReads reads_;
  std::deque<Pending> pending_;
  std::int64_t items_ = 0, last_step_ = 0;
  std::int64_t skipped_items_ = 0, skipped_ = 0, failed_in_a_row_ = 0;
};

}  // namespace burn::metric
