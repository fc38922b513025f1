// How a training is to go, and how it ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "train/checkpoint/checkpoint.h"
#include "train/learner/early_stopping.h"
#include "train/learner/interrupter.h"
#include "train/metric/metric_set.h"
#include "train/render/renderer.h"

namespace burn::train {

// resume(latest): from the checkpoint written last.
struct Latest {};
inline constexpr Latest latest;

struct Resume {
  std::optional<std::int64_t> epoch;  // none: the latest
};

struct TrainingOptions {
  std::filesystem::path artifact_dir;
  std::int64_t epochs = 1;
  std::vector<metric::MetricFactory> metrics;  // none: the loss
  std::optional<KeepLast> checkpoints = KeepLast{};
  std::optional<EarlyStopping> early_stopping;
  std::optional<Resume> resume;
  std::optional<std::uint64_t> seed;  // none: that of the device
  std::int64_t grads_accumulation = 1;
  bool summary = false;
  std::shared_ptr<Renderer> renderer;  // none: on stdout
  Interrupter interrupter;
};

enum class StopReason { completed, stopped_early, interrupted };

struct TrainingReport {
  StopReason reason = StopReason::completed;
  std::vector<std::string> metrics;  // their names, as in the results
  std::vector<EpochResult> history;  // of all epochs, those before a resume included
};

}  // namespace burn::train
