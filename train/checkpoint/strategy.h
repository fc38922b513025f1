// Which checkpoints of a training stay on disk. Several strategies together keep what any of them wants; the newest
// checkpoint always stays, for a training to go on from.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "train/learner/history.h"

namespace burn::train {

// Those of the last so many epochs.
struct KeepLast {
  std::int64_t epochs = 2;
};

// That of the epoch with the best value of a metric so far, the first one of several.
struct KeepBest {
  std::string metric = "Loss";  // by its name()
  Split split = Split::valid;
};

struct KeepAll {};

// Those of the epochs that a function names, which is called after each epoch. What was not kept once is gone.
struct KeepChosen {
  std::function<std::vector<std::int64_t>(const std::vector<EpochResult>& history)> epochs;
};

using CheckpointStrategy = std::variant<KeepLast, KeepBest, KeepAll, KeepChosen>;

// Errors: INVALID_ARGUMENT for a metric that is not measured, no epochs to keep, no function.
void check(const CheckpointStrategy& strategy, const metric::MetricSet& metrics);

// The epochs whose checkpoints are to stay after the last epoch of the history, ascending. Requires: an epoch.
std::vector<std::int64_t> kept_epochs(std::span<const CheckpointStrategy> strategies, const metric::MetricSet& metrics,
                                      const std::vector<EpochResult>& history);

}  // namespace burn::train
