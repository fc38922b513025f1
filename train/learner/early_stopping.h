// Ends a training whose metric no longer improves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "train/learner/history.h"

namespace burn::train {

// Stops after `patience` epochs in a row without a value better than the best before them, but not within the first
// `warmup` epochs, whose values still count for the best.
struct EarlyStopping {
  std::string metric = "Loss";  // the metric's name()
  Split split = Split::valid;
  std::int64_t patience = 1;
  std::int64_t warmup = 0;  // epochs
};

// A user-defined rule, called after each epoch. Returns a sentence with the reason to stop; empty to continue. It must
// depend on the history only, so that a resumed training stops at the same epoch.
using StopRule = std::function<std::string(const std::vector<EpochResult>& history)>;

// The index of the rule's metric among those measured. Errors: no metric of that name on that split; patience below 1;
// warm-up below 0.
std::size_t find_metric(const EarlyStopping& rule, const SplitMetrics& metrics);

// Returns a sentence with the reason to stop; empty to continue. Depends on the history only, like a StopRule.
std::string why_stop(const EarlyStopping& rule, const SplitMetrics& metrics, const std::vector<EpochResult>& history);

}  // namespace burn::train
