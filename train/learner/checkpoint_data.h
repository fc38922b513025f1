// Stores the metrics of a training in checkpoints, and checks whether a checkpoint belongs to this training. Private to
// train/learner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/checkpoint/checkpoint.h"
#include "train/learner/splits.h"
#include "train/metric/metric_set.h"

namespace burn::train {

std::vector<std::string> names(const metric::MetricSet& metrics);

// Errors: a checkpoint that was written with other metrics, or without validation while this training validates.
void check_metrics(const TrainingState& state, const SplitMetrics& metrics);
// Errors: a checkpoint that was written with optimizers of other names.
void check_optimizers(const TrainingState& state, const std::vector<std::string>& names);

// Stores the partial results of the metrics in the current epoch, f64, as "gathered/0", ... in the order of the
// metrics.
void save_gathered(const metric::MetricSet& metrics, Record& record);
void load_gathered(const Record& record, std::int64_t items, metric::MetricSet& metrics);

// A model's record with the averages in place of the corresponding weights.
Record with_averages(Record model, const Record& averages);

// The seed of an epoch. Seeds of successive epochs are unrelated.
std::uint64_t seed_of_epoch(std::uint64_t seed, std::int64_t epoch);

}  // namespace burn::train
