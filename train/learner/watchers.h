// Creates the event sinks of a training. Private to train/learner.
#pragma once

#include <memory>
#include <vector>

#include "train/events/event_sink.h"
#include "train/learner/options.h"

namespace burn::train {

// The display of the training, its event file and log, and the loggers of the options. `metrics`: the metrics, for
// formatting their values. `device`: the training's device. Errors: INVALID_ARGUMENT for an invalid address of a
// dashboard.
std::vector<std::shared_ptr<events::EventSink>> make_watchers(const TrainingOptions& options,
                                                              const SplitMetrics& metrics, const Device& device);

}  // namespace burn::train
