// A custom learning strategy: replicas on any devices, whose gradients are summed by the training program.
//
// Every device computes the gradients of its part of a batch. They are copied through the host to the first device and
// added there in the order of the devices; the first device takes the optimizer step, and its parameters are then
// copied to the others. This works wherever a device can be opened, without links between devices, and costs two
// transfers of all parameters per step. Use train::ddp() or train::multi_device() if the devices can reach each other.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "burn/burn.h"
#include "nn/module/visit.h"

namespace custom_strategy {

using namespace burn;

class HostSumLearning final : public train::Learning {
 public:
  HostSumLearning(std::vector<nn::ModuleWalk> replicas, optim::ModuleOptimizer& optimizer)
      : replicas_(std::move(replicas)), optimizer_(optimizer) {}

  void step(const lr::ModuleLearningRate& rates, std::vector<GradientsParams> gradients,
            const train::StepParts& parts) override {
    const Device first{slots_of(0).front()->value.device()};
    optim::GradientsAccumulator sum;
    for (auto& of_replica : gradients) {
      of_replica.for_each([&](client::Value& gradient) { gradient = nn::on_device(gradient, first); });
      sum.accumulate(std::move(of_replica));
    }
    auto step_rates = rates;
    auto sums = sum.grads();
    if (parts.prepare) parts.prepare(0, step_rates, sums);
    optimizer_.step(step_rates, replicas_[0], std::move(sums), {}, parts.average(0));
    const auto stepped = slots_of(0);
    for (std::size_t k = 1; k < replicas_.size(); ++k) {
      const auto others = slots_of(k);
      for (std::size_t i = 0; i < others.size(); ++i) {
        const Device device{others[i]->value.device()};
        others[i]->put(nn::on_device(stepped[i]->value.inner(), device), true);
      }
      nn::share_parameters(replicas_[k]);
      if (auto* const average = parts.average(k)) average->update(replicas_[k]);
    }
  }
  bool steps_each_replica() const override { return false; }
  void load_record(const Record& record) override { optimizer_.load_record(replicas_[0], record); }

 private:
  // The trainable parameters of a replica, in the same order for every replica.
  std::vector<Slot*> slots_of(std::size_t replica) const {
    std::vector<Slot*> slots;
    nn::for_each_place(replicas_[replica], [&](Slot& slot, bool is_first) {
      if (is_first && slot.is_trainable()) slots.push_back(&slot);
    });
    return slots;
  }

  const std::vector<nn::ModuleWalk> replicas_;
  optim::ModuleOptimizer& optimizer_;
};

class HostSum final : public train::LearningStrategy {
 public:
  explicit HostSum(std::vector<Device> devices) : devices_(std::move(devices)) {}
  std::string_view name() const override { return "host_sum"; }
  std::vector<Device> devices() const override { return devices_; }
  std::unique_ptr<train::Learning> start(std::vector<nn::ModuleWalk> replicas,
                                         optim::ModuleOptimizer& optimizer) const override {
    return std::make_unique<HostSumLearning>(std::move(replicas), optimizer);
  }

 private:
  const std::vector<Device> devices_;
};

inline train::Strategy host_sum(std::vector<Device> devices) {
  return std::make_shared<const HostSum>(std::move(devices));
}

}  // namespace custom_strategy
