// How a training is spread over devices: training.strategy(train::ddp({"ws://a:3000", "ws://b:3000"})).
//
// A strategy other than single() gives each of its devices a replica of the model and a part of each batch: its loss is
// the mean over the part's items, and counts by how many these are, so the last batch of an epoch weighs right. All
// devices are told what to do by one thread, and compute at the same time. What the batches are made of has to be in
// reach of the batcher on every device: a member `device` of it, or `to_device(const Device&)` (data/loader.h).
//
// On replicas: running statistics (batch norm) are those of each replica's own batches, and the model that is kept has
// the first one's; random numbers differ from replica to replica.
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

// What belongs to a step beside the sum of the gradients. Outlives the call that it is given to.
struct StepParts {
  // Called for each replica whose optimizer takes a step, once, with its rates and the sums of the gradients, right
  // before the step: it may clip them, or take some away. Empty: nothing is to be done.
  std::function<void(std::size_t replica, lr::ModuleLearningRate& rates, optim::GradientsParams& sums)> prepare;
  // Averages of the weights, by replica, to be updated after the step, of all replicas; none: there are none.
  std::vector<optim::ModuleAverage>* averages = nullptr;

  optim::ModuleAverage* average(std::size_t replica) const {
    return averages == nullptr || averages->empty() ? nullptr : &(*averages)[replica];
  }
};

// A strategy at work in one training. One thread.
class Learning {
 public:
  virtual ~Learning() = default;
  // A step of the optimizer with the sums of the replicas' gradients, `gradients` by replica: afterwards all replicas
  // have the same parameters. Recorded and sent, not waited for. Errors (thrown): of ModuleOptimizer::step;
  // of a device that is lost, by its name; what prepare() throws.
  virtual void step(const lr::ModuleLearningRate& rates, std::vector<optim::GradientsParams> gradients,
                    const StepParts& parts) = 0;
  // Whether each replica has an optimizer that takes the steps; else only the first has, and the others get what comes
  // of it.
  virtual bool steps_each_replica() const { return true; }
  // What the optimizer remembers becomes the record's. Errors: of ModuleOptimizer::load_record.
  virtual void load_record(const Record& optimizer) = 0;
};

// Immutable; may be used by several trainings at a time.
class LearningStrategy {
 public:
  virtual ~LearningStrategy() = default;
  virtual std::string_view name() const = 0;  // "ddp"
  // Which have a replica each, the first of which is the model itself. None: the model stays where it is, alone.
  virtual std::vector<Device> devices() const = 0;
  // `replicas`: equal, one for each device, or the model alone; `optimizer`: whose records are kept. Both outlive what
  // is returned. Errors (thrown): devices that cannot be connected, by their names.
  virtual std::unique_ptr<Learning> start(std::vector<nn::ModuleWalk> replicas,
                                          optim::ModuleOptimizer& optimizer) const = 0;
};

using Strategy = std::shared_ptr<const LearningStrategy>;

// On the device that the model is on: what a training does unless something else is said. The device may be a router's,
// which splits batches by itself.
Strategy single();
// Data-parallel: gradients are summed between the devices (client/group/group.h), and each steps its own replica. With
// grads_accumulation() the sums are made once for each step of the optimizer.
Strategy ddp(std::vector<Device> devices);
// Gradients are summed on the first device, which alone has an optimizer's state, and sends the others the new
// parameters: less memory than ddp() on all devices but the first, which waits for no other in its update.
Strategy multi_device(std::vector<Device> devices);

}  // namespace burn::train
