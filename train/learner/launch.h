// Runs a training whose model and loaders are passed without their types. Private to train/learner.
#pragma once

#include <functional>
#include <memory>

#include "train/learner/options.h"
#include "train/learner/work.h"

namespace burn::train {

// `make_work`: creates the model with its loaders for the options; called once, or twice for a dry run. Errors
// (thrown): as Engine::run.
TrainingReport launch(const TrainingOptions& options,
                      const std::function<std::unique_ptr<Work>(const TrainingOptions&)>& make_work,
                      Optimizers& optimizers, const std::function<void()>& at_end);

}  // namespace burn::train
