// How the metrics of a training went, epoch by epoch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/record.h"
#include "train/events/event.h"
#include "train/learner/splits.h"
#include "train/render/renderer.h"

namespace burn::train {

// An epoch that is over; one number for each metric of the split. `valid` is empty where nothing is validated.
struct EpochResult {
  std::int64_t epoch = 0;
  std::vector<double> train, valid;

  const std::vector<double>& of(Split split) const { return split == Split::train ? train : valid; }
};

// A validation that took place within an epoch (SupervisedTraining::validate_every), after so many steps of the run.
struct StepResult {
  std::int64_t step = 0, epoch = 0;
  std::vector<double> valid;
};

struct Extreme {
  std::int64_t epoch = 0;
  double value = 0;
};

// The epoch with the largest (or smallest) value of a metric, the first one of several. NaN, and no value, count only
// when there is nothing else. Requires: an epoch.
Extreme find_extreme(const std::vector<EpochResult>& history, Split split, std::size_t metric, bool largest);

// The extreme that the metric calls good.
Extreme find_best(const std::vector<EpochResult>& history, Split split, std::size_t metric,
                  const SplitMetrics& metrics);

// The rows of the table at the end: of the metrics that have a value in some epoch.
events::Summary extremes(const std::vector<EpochResult>& history, const NumberedMetrics& numbers);
std::vector<MetricSummary> summarize(const std::vector<EpochResult>& history, const SplitMetrics& metrics);

// As tensors "train" and "valid" [epochs, metrics of the split], f64: text would round. `from_record` numbers the
// epochs from 1.
Record to_record(const std::vector<EpochResult>& history);
std::vector<EpochResult> history_from_record(const Record& record);

}  // namespace burn::train
