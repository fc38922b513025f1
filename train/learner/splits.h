// The metrics of a training's splits, which may differ between the splits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "train/metric/metric_set.h"
#include "train/render/renderer.h"

namespace burn::train {

// A view of metric sets, which must outlive it.
class SplitMetrics {
 public:
  // The same metrics on training and validation.
  SplitMetrics(const metric::MetricSet& both) : train_(&both), valid_(&both) {}  // NOLINT: implicit on purpose
  // `valid`: null without validation.
  SplitMetrics(const metric::MetricSet& train, const metric::MetricSet* valid) : train_(&train), valid_(valid) {}

  bool has(Split split) const { return set(split) != nullptr; }
  // Requires: has(split).
  const metric::MetricSet& of(Split split) const { return *set(split); }

 private:
  const metric::MetricSet* set(Split split) const { return split == Split::train ? train_ : valid_; }

  const metric::MetricSet* train_;
  const metric::MetricSet* valid_;
};

// The index of a metric among those of a split. Errors: INVALID_ARGUMENT beginning with `asking`: no metric of that
// name (lists the existing ones); nothing is measured on that split, as there is no loader for it.
std::size_t find_metric(std::string_view asking, const std::string& name, Split split, const SplitMetrics& metrics);

// The metrics of both splits in one list, in the numbering of events: those of training, then those of validation only.
struct NumberedMetrics {
  explicit NumberedMetrics(const SplitMetrics& metrics);

  const std::vector<std::int32_t>& of(Split split) const { return split == Split::train ? train : valid; }

  std::vector<const metric::Metric*> all;  // owned by the metric sets
  std::vector<std::int32_t> train, valid;  // the numbers of the metrics of a split, in its order
};

}  // namespace burn::train
