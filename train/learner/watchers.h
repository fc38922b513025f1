// What watches a training: the sinks of its events. Private to train/learner.
#pragma once

#include <memory>
#include <vector>

#include "train/events/event_sink.h"
#include "train/learner/options.h"

namespace burn::train {

// The renderer and the loggers of the options. `metrics`: what is measured, whose values the renderer writes.
std::vector<std::shared_ptr<events::EventSink>> make_watchers(const TrainingOptions& options,
                                                              const SplitMetrics& metrics);

}  // namespace burn::train
