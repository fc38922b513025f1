// The engine's interface to a model and its loaders, without their types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nn/module/module.h"
#include "train/learner/optimizers.h"
#include "train/lr/module_lr.h"
#include "train/metric/step_output.h"
#include "train/optim/ema.h"
#include "train/optim/gradients_params.h"
#include "train/render/renderer.h"

namespace burn::train {

// Used by the training thread.
class Work {
 public:
  virtual ~Work() = default;

  virtual nn::ModuleWalk model() = 0;
  virtual std::vector<nn::ModuleWalk> replicas() = 0;  // one for each device; the first is the model

  virtual bool has(Split split) const = 0;  // whether there are batches of that split
  // Sizes of a pass, which may be shorter than the split.
  virtual std::int64_t items(Split split) const = 0;
  virtual std::int64_t batches(Split split) const = 0;
  virtual std::int64_t workers(Split split) const = 0;  // threads that make batches

  // Begins a pass over a split in the epoch (counted from 1), at batch number `first` (counted from 0). One pass per
  // split may be active. `averages`: for validation, used in place of the weights, one for each replica; null: the
  // weights.
  virtual void begin(Split split, std::int64_t epoch, std::int64_t first,
                     const std::vector<optim::ModuleAverage>* averages = nullptr) = 0;
  // Makes the next batch or waits for it; false after the last one.
  virtual bool next(Split split) = 0;
  // Records the steps of the replicas on their parts of the batch, tracked in training, in the replicas' order. Called
  // once after each next().
  struct Part {
    StepOutput output;
    double weight = 1;                                // share of the batch's items; 0: repeats an item of another part
    std::optional<optim::GradientsParams> gradients;  // if the step computes them itself
  };
  virtual std::vector<Part> step(Split split) = 0;
  // The position in a stream after the batch of the last step(), at which the next begin() continues. Empty: the
  // beginning, or no stream.
  virtual const std::string& position() const = 0;
  // Sets that position. `has_begun`: some batch has been trained on. Errors: INVALID_ARGUMENT for a position without a
  // stream, and for an empty position of a stream after batches have been trained on.
  virtual void seek(const std::string& position, bool has_begun) = 0;
  // Ends the pass, complete or not.
  virtual void end(Split split) = 0;

  // Calls optimize() of a replica's model, if it has one.
  virtual bool has_optimize() const = 0;
  virtual void optimize(std::size_t replica, lr::ModuleLearningRate& rates, optim::GradientsParams& gradients,
                        OptimizerChoice& choice) = 0;
};

// Errors: those of Work::seek().
void check_position(const std::string& position, bool has_begun, bool is_stream);

// The device that the model is on. Errors: a model without tensors.
Device device_of(const nn::ModuleWalk& model);

}  // namespace burn::train
