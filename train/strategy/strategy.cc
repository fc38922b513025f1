#include "train/strategy/strategy.h"

#include <map>
#include <optional>
#include <utility>

#include "base/error.h"
#include "client/group/group.h"
#include "client/ops/ops.h"
#include "client/site_scope.h"

namespace burn::train {
namespace {

using client::current_site;
using client::Group;

// The gradients to sum: dense, by replica, in the order of `ids`.
struct GradientLists {
  std::vector<ParamId> ids;
  Group::Lists values;
};

// If only some replicas have a gradient for a parameter, the others get zeros.
GradientLists gradient_lists(const std::vector<nn::ModuleWalk>& replicas,
                             std::vector<optim::GradientsParams> gradients) {
  std::vector<std::vector<Slot*>> slots(replicas.size());
  for (std::size_t k = 0; k < replicas.size(); ++k) {
    nn::for_each_place(replicas[k], [&](Slot& slot, bool is_first) {
      if (is_first && slot.is_trainable()) slots[k].push_back(&slot);
    });
  }
  GradientLists lists{{}, Group::Lists(replicas.size())};
  for (std::size_t i = 0; i < slots[0].size(); ++i) {
    const auto id = slots[0][i]->id;
    std::vector<std::optional<client::Value>> of_replicas;
    bool is_there = false;
    for (auto& of_replica : gradients) {
      of_replicas.push_back(of_replica.remove(id));
      is_there |= of_replicas.back().has_value();
    }
    if (!is_there) continue;
    lists.ids.push_back(id);
    for (std::size_t k = 0; k < replicas.size(); ++k) {
      const auto& parameter = slots[k][i]->value;
      lists.values[k].push_back(of_replicas[k] ? *std::move(of_replicas[k])
                                               : client::filled({parameter.device()}, parameter.shape(), 0,
                                                                parameter.dtype(), current_site()));
    }
  }
  return lists;
}

optim::GradientsParams gradients_of(const std::vector<ParamId>& ids, std::vector<client::Value> values) {
  optim::GradientsParams gradients;
  for (std::size_t i = 0; i < ids.size(); ++i) gradients.put(ids[i], std::move(values[i]));
  return gradients;
}

// The step of one replica.
void take_step(optim::ModuleOptimizer& optimizer, lr::ModuleLearningRate rates, std::size_t replica,
               const nn::ModuleWalk& module, optim::GradientsParams sums, const StepParts& parts) {
  if (parts.prepare) parts.prepare(replica, rates, sums);
  optimizer.step(rates, module, std::move(sums), current_site(), parts.average(replica));
}

// --- single ----------------------------------------------------------------------------------------------------------

class SingleLearning final : public Learning {
 public:
  SingleLearning(nn::ModuleWalk model, optim::ModuleOptimizer& optimizer)
      : model_(std::move(model)), optimizer_(optimizer) {}

  void step(const lr::ModuleLearningRate& rates, std::vector<optim::GradientsParams> gradients,
            const StepParts& parts) override {
    take_step(optimizer_, rates, 0, model_, std::move(gradients.front()), parts);
  }
  void load_record(const Record& optimizer) override { optimizer_.load_record(model_, optimizer); }

 private:
  const nn::ModuleWalk model_;
  optim::ModuleOptimizer& optimizer_;
};

class Single final : public LearningStrategy {
 public:
  std::string_view name() const override { return "single"; }
  std::vector<Device> devices() const override { return {}; }
  std::unique_ptr<Learning> start(std::vector<nn::ModuleWalk> replicas,
                                  optim::ModuleOptimizer& optimizer) const override {
    return std::make_unique<SingleLearning>(std::move(replicas.front()), optimizer);
  }
};

// --- ddp -------------------------------------------------------------------------------------------------------------

class DdpLearning final : public Learning {
 public:
  DdpLearning(std::vector<nn::ModuleWalk> replicas, optim::ModuleOptimizer& optimizer,
              const std::vector<Device>& devices)
      : replicas_(std::move(replicas)), first_(optimizer), others_(replicas_.size() - 1, optimizer), group_(devices) {}

  void step(const lr::ModuleLearningRate& rates, std::vector<optim::GradientsParams> gradients,
            const StepParts& parts) override {
    auto [ids, values] = gradient_lists(replicas_, std::move(gradients));
    auto sums = group_.all_reduce(std::move(values), ir::ReduceFn::sum, current_site());
    for (std::size_t k = 0; k < replicas_.size(); ++k)
      take_step(of(k), rates, k, replicas_[k], gradients_of(ids, std::move(sums[k])), parts);
  }
  void load_record(const Record& optimizer) override {
    for (std::size_t k = 0; k < replicas_.size(); ++k) of(k).load_record(replicas_[k], optimizer);
  }

 private:
  optim::ModuleOptimizer& of(std::size_t k) { return k == 0 ? first_ : others_[k - 1]; }

  const std::vector<nn::ModuleWalk> replicas_;
  optim::ModuleOptimizer& first_;
  std::vector<optim::ModuleOptimizer> others_;
  const Group group_;
};

// --- multi_device ----------------------------------------------------------------------------------------------------

class MultiDeviceLearning final : public Learning {
 public:
  MultiDeviceLearning(std::vector<nn::ModuleWalk> replicas, optim::ModuleOptimizer& optimizer,
                      const std::vector<Device>& devices)
      : replicas_(std::move(replicas)), optimizer_(optimizer), group_(devices) {}

  void step(const lr::ModuleLearningRate& rates, std::vector<optim::GradientsParams> gradients,
            const StepParts& parts) override {
    auto [ids, values] = gradient_lists(replicas_, std::move(gradients));
    auto sums = group_.reduce(std::move(values), current_site());
    take_step(optimizer_, rates, 0, replicas_[0], gradients_of(ids, std::move(sums)), parts);
    spread(ids);
    for (std::size_t k = 1; k < replicas_.size(); ++k) {
      if (auto* const average = parts.average(k)) average->update(replicas_[k], current_site());
    }
  }
  bool steps_each_replica() const override { return false; }
  void load_record(const Record& optimizer) override { optimizer_.load_record(replicas_[0], optimizer); }

 private:
  // Sends the first replica's parameters to all others.
  void spread(const std::vector<ParamId>& ids) {
    std::map<ParamId, std::size_t> index;
    for (std::size_t i = 0; i < ids.size(); ++i) index[ids[i]] = i;
    std::vector<client::Value> parameters(ids.size());
    nn::for_each_place(replicas_[0], [&](Slot& slot, bool is_first) {
      if (const auto found = index.find(slot.id); is_first && found != index.end())
        parameters[found->second] = slot.value.inner();
    });
    const auto sent = group_.broadcast(parameters, current_site());
    for (std::size_t k = 1; k < replicas_.size(); ++k) {
      nn::for_each_slot(replicas_[k], [&](const std::string&, Slot& slot) {
        if (const auto found = index.find(slot.id); found != index.end()) slot.put(sent[k][found->second], true);
      });
    }
  }

  const std::vector<nn::ModuleWalk> replicas_;
  optim::ModuleOptimizer& optimizer_;
  const Group group_;
};

// --- on several devices --------------------------------------------------------------------------------------------

template <typename LearningOf>
class OnDevices final : public LearningStrategy {
 public:
  OnDevices(std::string_view name, std::vector<Device> devices) : name_(name), devices_(std::move(devices)) {}
  std::string_view name() const override { return name_; }
  std::vector<Device> devices() const override { return devices_; }
  std::unique_ptr<Learning> start(std::vector<nn::ModuleWalk> replicas,
                                  optim::ModuleOptimizer& optimizer) const override {
    return std::make_unique<LearningOf>(std::move(replicas), optimizer, devices_);
  }

 private:
  const std::string_view name_;
  const std::vector<Device> devices_;
};

}  // namespace

Strategy single() {
  static const Strategy strategy = std::make_shared<const Single>();
  return strategy;
}
Strategy ddp(std::vector<Device> devices) {
  return std::make_shared<const OnDevices<DdpLearning>>("ddp", std::move(devices));
}
Strategy multi_device(std::vector<Device> devices) {
  return std::make_shared<const OnDevices<MultiDeviceLearning>>("multi_device", std::move(devices));
}

}  // namespace burn::train
