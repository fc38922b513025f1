// Made-up epoch results, for tests of early stopping, summaries and the choice of checkpoints to keep.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "train/learner/history.h"
#include "train/metric/metric_set.h"

namespace burn::train {

inline metric::MetricSet metrics() {
  return metric::MetricSet{
      {[] { return std::make_unique<metric::Loss>(); }, [] { return std::make_unique<metric::Accuracy>(); }}};
}

// Epochs with these losses and accuracies in validation, and zeros in training.
inline std::vector<EpochResult> history(const std::vector<double>& losses, const std::vector<double>& accuracies) {
  std::vector<EpochResult> history;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    history.push_back({static_cast<std::int64_t>(i + 1), {0, 0}, {losses[i], accuracies[i]}});
  }
  return history;
}

}  // namespace burn::train
