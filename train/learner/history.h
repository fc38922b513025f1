// How the metrics of a training went, epoch by epoch.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/record.h"
#include "train/metric/metric_set.h"
#include "train/render/renderer.h"

namespace burn::train {

// An epoch that is over; one number for each metric.
struct EpochResult {
  std::int64_t epoch = 0;
  std::vector<double> train, valid;

  const std::vector<double>& of(Split split) const { return split == Split::train ? train : valid; }
};

struct Extreme {
  std::int64_t epoch = 0;
  double value = 0;
};

// The epoch with the largest (or smallest) value of a metric, the first one of several. NaN counts only when there is
// nothing else. Requires: an epoch.
Extreme find_extreme(const std::vector<EpochResult>& history, Split split, std::size_t metric, bool largest);

// The place of a metric among those measured. Errors: INVALID_ARGUMENT with those that there are, beginning with
// `asking`.
std::size_t find_metric(std::string_view asking, const std::string& name, const metric::MetricSet& metrics);

// The extreme that the metric calls good.
Extreme find_best(const std::vector<EpochResult>& history, Split split, std::size_t metric,
                  const metric::MetricSet& metrics);

// Rows of the metrics that have a value in some epoch.
events::Summary extremes(const std::vector<EpochResult>& history, std::size_t metrics);
std::vector<MetricSummary> summarize(const std::vector<EpochResult>& history, const metric::MetricSet& metrics);

// As tensors "train" and "valid" [epochs, metrics], f64: text would round. `from_record` numbers the epochs from 1.
Record to_record(const std::vector<EpochResult>& history);
std::vector<EpochResult> history_from_record(const Record& record);

}  // namespace burn::train
