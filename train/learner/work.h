// What the engine needs of a model and its loaders, free of their types.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "nn/module/module.h"
#include "train/metric/step_output.h"
#include "train/render/renderer.h"

namespace burn::train {

// Used by the thread that trains.
class Work {
 public:
  virtual ~Work() = default;

  virtual nn::ModuleWalk model() = 0;
  virtual std::int64_t items(Split split) const = 0;  // of an epoch

  // Begins a pass of the epoch (counted from 1) over a split. The batches before `skip` are made and thrown away;
  // `before_first` is called right before the first one that counts is made.
  virtual void begin(Split split, std::int64_t epoch, std::int64_t skip, const std::function<void()>& before_first) = 0;
  // The model's step on the next batch, tracked when training; nothing after the last batch.
  virtual std::optional<StepOutput> step() = 0;
  // Ends the pass, be it over or not.
  virtual void end() = 0;
};

// The device that the model is on. Errors: a model without tensors.
Device device_of(const nn::ModuleWalk& model);

}  // namespace burn::train
