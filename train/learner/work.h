// What the engine needs of a model and its loaders, free of their types.
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

// Used by the thread that trains.
class Work {
 public:
  virtual ~Work() = default;

  virtual nn::ModuleWalk model() = 0;
  virtual std::vector<nn::ModuleWalk> replicas() = 0;  // one for each device; the first is the model

  virtual bool has(Split split) const = 0;  // whether there are batches of that split
  // Of a pass, which may be shorter than the split.
  virtual std::int64_t items(Split split) const = 0;
  virtual std::int64_t batches(Split split) const = 0;
  virtual std::int64_t workers(Split split) const = 0;  // threads that make its batches

  // Begins a pass of the epoch (counted from 1) over a split, with its batch number `first` (counted from 0). A pass
  // over each split may be under way. Of validation: with the averages in place of the models' weights, if there are
  // any, one for each replica.
  virtual void begin(Split split, std::int64_t epoch, std::int64_t first,
                     const std::vector<optim::ModuleAverage>* averages = nullptr) = 0;
  // The next batch is there; false after the last. Makes it, or waits for it.
  virtual bool next(Split split) = 0;
  // The steps of the replicas on their parts of the batch, tracked when training, in the replicas' order. Once for each
  // next().
  struct Part {
    StepOutput output;
    double weight = 1;  // its share of the batch's items; 0: it repeats one of another part
    std::optional<optim::GradientsParams> gradients;  // that the step has computed itself
  };
  virtual std::vector<Part> step(Split split) = 0;
  // Where training goes on in a stream, after the batch of the last step(); the next begin() does. Empty: at its
  // beginning, or there is no stream.
  virtual const std::string& position() const = 0;
  // `has_begun`: some batch has been trained on. Errors: INVALID_ARGUMENT for a position where there is no stream, and
  // for none where there is one that has begun.
  virtual void go_to(const std::string& position, bool has_begun) = 0;
  // Ends the pass, be it over or not.
  virtual void end(Split split) = 0;

  // Calls optimize() of a replica's model, if it has one.
  virtual bool has_optimize() const = 0;
  virtual void optimize(std::size_t replica, lr::ModuleLearningRate& rates, optim::GradientsParams& gradients,
                        OptimizerChoice& choice) = 0;
};

// Errors: those of Work::go_to().
void check_position(const std::string& position, bool has_begun, bool is_stream);

// The device that the model is on. Errors: a model without tensors.
Device device_of(const nn::ModuleWalk& model);

}  // namespace burn::train
