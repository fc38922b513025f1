// The metrics of a training as they lie in its checkpoints, and whether a checkpoint is one of this training. Private
// to train/learner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/checkpoint/checkpoint.h"
#include "train/learner/splits.h"
#include "train/metric/metric_set.h"

namespace burn::train {

std::vector<std::string> names(const metric::MetricSet& metrics);

// Errors: a checkpoint that was written with other metrics, or without a validation that there is now.
void check_metrics(const TrainingState& state, const SplitMetrics& metrics);
// Errors: one that was written with optimizers of other names.
void check_optimizers(const TrainingState& state, const std::vector<std::string>& names);

// What the metrics have gathered of an epoch under way, f64, as "gathered/0", ... in the order of the metrics.
void save_gathered(const metric::MetricSet& metrics, Record& record);
void load_gathered(const Record& record, std::int64_t items, metric::MetricSet& metrics);

// A model's record, with averages in the place of the weights that they are of.
Record with_averages(Record model, const Record& averages);

// Seeds of successive epochs have nothing to do with each other.
std::uint64_t seed_of_epoch(std::uint64_t seed, std::int64_t epoch);

}  // namespace burn::train
