// What the engine needs of a model and its loaders, free of their types.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "nn/module/module.h"
#include "train/metric/step_output.h"
#include "train/render/renderer.h"

namespace burn::train {

// Used by the thread that trains.
class Work {
 public:
  virtual ~Work() = default;

  virtual nn::ModuleWalk model() = 0;
  virtual std::vector<nn::ModuleWalk> replicas() = 0;  // one for each device; the first is the model
  virtual std::int64_t items(Split split) const = 0;   // of an epoch

  // Begins a pass of the epoch (counted from 1) over a split. The batches before `skip` are made and thrown away;
  // `before_first` is called right before the first one that counts is made.
  virtual void begin(Split split, std::int64_t epoch, std::int64_t skip, const std::function<void()>& before_first) = 0;
  // The steps of the replicas on their parts of the next batch, tracked when training, in the replicas' order; nothing
  // after the last batch.
  struct Part {
    StepOutput output;
    double weight = 1;  // its share of the batch's items; 0: it repeats one of another part
  };
  virtual std::vector<Part> step() = 0;
  // Ends the pass, be it over or not.
  virtual void end() = 0;
};

// The device that the model is on. Errors: a model without tensors.
Device device_of(const nn::ModuleWalk& model);

}  // namespace burn::train
