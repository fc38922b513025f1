// The metrics of one split of an epoch, and the measurements that are still on their way from the device.
#pragma once

#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "train/metric/metric.h"

namespace burn::metric {

using MetricFactory = std::function<std::unique_ptr<Metric>()>;

// One thread at a time.
class MetricSet {
 public:
  explicit MetricSet(const std::vector<MetricFactory>& factories);

  // Records what all metrics want to know of a batch, as one tensor, so that one read fetches it.
  client::Value measure(const StepOutput& output);
  // Asks for the numbers of a batch whose step has been sent. Does not wait.
  void push(const client::Value& measured, std::int64_t items);
  // Takes in what has arrived, and waits until no more than `pending` batches are on their way.
  // Errors: what went wrong on the device.
  void take(std::size_t pending);

  const std::vector<std::unique_ptr<Metric>>& metrics() const { return metrics_; }
  std::int64_t items() const { return items_; }            // taken in
  std::size_t pending() const { return pending_.size(); }  // batches on their way
  std::vector<double> values() const;

  std::vector<std::vector<double>> state() const;  // Requires: nothing on its way.
  void load_state(const std::vector<std::vector<double>>& state, std::int64_t items);
  void reset();

 private:
  struct Pending {
    std::future<TensorData> data;
    std::int64_t items;
  };

  void add(const Pending& batch, const TensorData& data);

  std::vector<std::unique_ptr<Metric>> metrics_;
  std::vector<std::size_t> lengths_;  // how many numbers each metric measures
  std::deque<Pending> pending_;
  std::int64_t items_ = 0;
};

}  // namespace burn::metric
