// Ends a training whose metric gets no better.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "train/learner/history.h"

namespace burn::train {

// Stops after `patience` epochs in a row without a value better than the best before them, but not within the first
// `warmup` epochs, whose values count for what is the best.
struct EarlyStopping {
  std::string metric = "Loss";  // by its name()
  Split split = Split::valid;
  std::int64_t patience = 1;
  std::int64_t warmup = 0;  // epochs
};

// A rule of the user's own, asked after each epoch: the sentence that says why to stop; empty to go on. It decides by
// the history alone, so that a resumed training stops where it would have stopped.
using StopRule = std::function<std::string(const std::vector<EpochResult>& history)>;

// The place of the metric among those measured. Errors: there is none of that name on that split; patience below 1;
// warm-up below 0.
std::size_t find_metric(const EarlyStopping& rule, const SplitMetrics& metrics);

// The sentence that says why to stop; empty to go on. Decides by the history alone, as a StopRule does.
std::string why_stop(const EarlyStopping& rule, const SplitMetrics& metrics, const std::vector<EpochResult>& history);

}  // namespace burn::train
