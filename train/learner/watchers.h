// What watches a training: the sinks of its events. Private to train/learner.
#pragma once

#include <memory>
#include <vector>

#include "train/events/event_sink.h"
#include "train/learner/options.h"

namespace burn::train {

// What shows the training, its file of events and its log, and the loggers of the options. `metrics`: what is measured,
// whose values are written. `device`: what it computes on. Errors: INVALID_ARGUMENT for a dashboard's address that is
// none.
std::vector<std::shared_ptr<events::EventSink>> make_watchers(const TrainingOptions& options,
                                                              const SplitMetrics& metrics, const Device& device);

}  // namespace burn::train
