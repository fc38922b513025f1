// How a training is distributed over devices: training.strategy(train::ddp({"ws://a:3000", "ws://b:3000"})).
//
// Strategies other than single() give each device a replica of the model and a part of each batch: its loss is the mean
// over the part's items, and is weighted by their number, so that the last batch of an epoch has the right weight. One
// thread controls all devices, which compute at the same time. The batcher must be able to make batches on every
// device: it has a member `device`, or `to_device(const Device&)` (data/loader.h).
//
// Each replica has the running statistics (batch norm) of its own batches, and the resulting model has those of the
// first replica; random numbers differ between replicas.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "client/device.h"
#include "nn/module/visit.h"
#include "train/lr/module_lr.h"
#include "train/optim/ema.h"
#include "train/optim/module_optimizer.h"

namespace burn::train {

// Additional parts of a step, besides the sum of the gradients. Must outlive the call that it is passed to.
struct StepParts {
  // Called once for each replica whose optimizer takes a step, directly before the step, with its rates and the sums of
  // the gradients: it may clip or remove gradients. May be empty.
  std::function<void(std::size_t replica, lr::ModuleLearningRate& rates, optim::GradientsParams& sums)> prepare;
  // Averages of the weights, by replica, which are updated after the step; null: none.
  std::vector<optim::ModuleAverage>* averages = nullptr;

  optim::ModuleAverage* average(std::size_t replica) const {
    return averages == nullptr || averages->empty() ? nullptr : &(*averages)[replica];
  }
};

// A strategy in use by one training. One thread.
class Learning {
 public:
  virtual ~Learning() = default;
  // Takes an optimizer step with the sums of the replicas' gradients, `gradients` by replica: afterwards all replicas
  // have the same parameters. Recorded and sent without waiting. Errors (thrown): those of ModuleOptimizer::step; a
  // lost device, with its name; what prepare() throws.
  virtual void step(const lr::ModuleLearningRate& rates, std::vector<optim::GradientsParams> gradients,
                    const StepParts& parts) = 0;
  // Whether each replica has an optimizer that takes the steps; else only the first has one, and the others receive the
  // results.
  virtual bool steps_each_replica() const { return true; }
  // Loads the optimizer's state. Errors: those of ModuleOptimizer::load_record.
  virtual void load_record(const Record& optimizer) = 0;
};

// Immutable; may be used by several trainings at the same time.
class LearningStrategy {
 public:
  virtual ~LearningStrategy() = default;
  virtual std::string_view name() const = 0;  // "ddp"
  // The devices of the replicas, the first of which is the model itself. Empty: only the model, on its present device.
  virtual std::vector<Device> devices() const = 0;
  // `replicas`: equal modules, one for each device, or only the model; `optimizer`: the optimizer whose records are
  // saved. Both must outlive the result. Errors (thrown): devices that cannot be connected, with their names.
  virtual std::unique_ptr<Learning> start(std::vector<nn::ModuleWalk> replicas,
                                          optim::ModuleOptimizer& optimizer) const = 0;
};

using Strategy = std::shared_ptr<const LearningStrategy>;

// Trains on the model's device; the default. The device may be a router's, which splits batches itself.
Strategy single();
// Data-parallel: gradients are summed over the devices (client/group/group.h), and each device updates its own replica.
// With grads_accumulation() they are summed once for each optimizer step.
Strategy ddp(std::vector<Device> devices);
// Gradients are summed on the first device, the only one with optimizer state, which sends the new parameters to the
// others. Needs less memory than ddp() on all devices except the first, which does not wait for the others in its
// update.
Strategy multi_device(std::vector<Device> devices);

}  // namespace burn::train
