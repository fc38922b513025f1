// Ends a training whose metric gets no better.
#pragma once

#include <cstdint>
#include <string>

#include "train/learner/history.h"

namespace burn::train {

// Stops after `patience` epochs in a row without a value better than the best before them.
struct EarlyStopping {
  std::string metric = "Loss";  // by its name()
  Split split = Split::valid;
  std::int64_t patience = 1;
};

// The place of the metric among those measured. Errors: there is none of that name; patience below 1.
std::size_t find_metric(const EarlyStopping& rule, const metric::MetricSet& metrics);

// The sentence that says why to stop; empty to go on. Decides by the history alone, so that a resumed training stops
// where it would have stopped.
std::string why_stop(const EarlyStopping& rule, const metric::MetricSet& metrics,
                     const std::vector<EpochResult>& history);

}  // namespace burn::train
