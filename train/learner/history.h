// The history of a training's metrics, epoch by epoch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/record.h"
#include "train/events/event.h"
#include "train/learner/splits.h"
#include "train/render/renderer.h"

namespace burn::train {

// The results of a complete epoch: one number for each metric of the split. `valid` is empty without validation.
struct EpochResult {
  std::int64_t epoch = 0;
  std::vector<double> train, valid;

  const std::vector<double>& of(Split split) const { return split == Split::train ? train : valid; }
};

// A validation within an epoch (SupervisedTraining::validate_every), after `step` steps of the run.
struct StepResult {
  std::int64_t step = 0, epoch = 0;
  std::vector<double> valid;
};

struct Extreme {
  std::int64_t epoch = 0;
  double value = 0;
};

// The epoch with the largest (or smallest) value of a metric, the first of equal ones. NaN and missing values are
// chosen only if there is nothing else. Requires: a history with an epoch.
Extreme find_extreme(const std::vector<EpochResult>& history, Split split, std::size_t metric, bool largest);

// The extreme in the direction that is better for the metric.
Extreme find_best(const std::vector<EpochResult>& history, Split split, std::size_t metric,
                  const SplitMetrics& metrics);

// The rows of the summary table, for metrics that have a value in some epoch.
events::Summary extremes(const std::vector<EpochResult>& history, const NumberedMetrics& numbers);
std::vector<MetricSummary> summarize(const std::vector<EpochResult>& history, const SplitMetrics& metrics);

// Stores the history as tensors "train" and "valid" [epochs, metrics of the split] in f64, as text would round.
// history_from_record() numbers the epochs from 1.
Record to_record(const std::vector<EpochResult>& history);
std::vector<EpochResult> history_from_record(const Record& record);

}  // namespace burn::train
