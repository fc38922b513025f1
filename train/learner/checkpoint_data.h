// The metrics of a training as they lie in its checkpoints. Private to train/learner.
#pragma once

#include <string>
#include <vector>

#include "train/checkpoint/checkpoint.h"
#include "train/metric/metric_set.h"

namespace burn::train {

std::vector<std::string> names(const metric::MetricSet& metrics);

// Errors: a checkpoint that was written with other metrics.
void check_metrics(const TrainingState& state, const metric::MetricSet& metrics);

// What the metrics have gathered of an epoch under way, f64, as "gathered/0", ... in the order of the metrics.
void save_gathered(const metric::MetricSet& metrics, Record& record);
void load_gathered(const Record& record, std::int64_t items, metric::MetricSet& metrics);

}  // namespace burn::train
