// Applies a rule to every parameter of a module, and keeps what the rule remembers of each.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/capture/state.h"
#include "nn/module/module.h"
#include "store/record.h"
#include "train/lr/module_lr.h"
#include "train/optim/ema.h"
#include "train/optim/grad_clipping.h"
#include "train/optim/gradients_params.h"
#include "train/optim/tensor_optimizer.h"

namespace burn::optim {

class ModuleOptimizer;

// What a router splits over its workers along the first axis, a part on each, where it would else be on all of them.
// What an optimizer remembers always is.
struct StateSplit {
  bool parameters = false;  // those, too: put together wherever they are used
};

template <typename C>
concept OptimizerConfig = requires(const C& config) {
  { config.init() } -> std::same_as<ModuleOptimizer>;
};

// Free of the module's type: Optimizer<M> is this with a type. A value; one thread at a time.
class ModuleOptimizer : private client::CaptureHost {
 public:
  explicit ModuleOptimizer(std::shared_ptr<const TensorOptimizer> rule,
                           std::optional<GradientClippingConfig> clipping = std::nullopt);
  template <OptimizerConfig C>
  ModuleOptimizer(const C& config) : ModuleOptimizer(config.init()) {}  // NOLINT: a configuration is an optimizer

  // Of all gradients; a group has the clipping of the optimizer that it was given.
  ModuleOptimizer& with_grad_clipping(const GradientClippingConfig& clipping);
  // The parameters of a group are another optimizer's: AdamConfig{...} for all, and for "head" SgdConfig{...}. A
  // parameter belongs to the last group that it is in; one at several places must be in the same by each of its paths,
  // or its first step is an error. Before the first step. Errors (thrown): an optimizer that has groups itself, or has
  // taken a step.
  ModuleOptimizer& with_group(ParamGroup group, const ModuleOptimizer& optimizer);

  // Memory for communication, on a router: each of N workers keeps 1/N of what is remembered, gets the sum of 1/N of
  // the gradients, and computes 1/N of the step; then parameters are put together (ZeRO-1: Rajbhandari et al.,
  // arXiv:1910.02054). Tensors of fewer than kMinSplit elements stay on all. Everywhere else it changes nothing.
  ModuleOptimizer& split_state(StateSplit split = {});
  static constexpr std::int64_t kMinSplit = 1024;

  // Updates the parameters that have a gradient, in place, and sends what this thread has recorded: forward, backward
  // and step become one program. Nothing is waited for, but in the first step on another device, to which what is
  // remembered follows. In a captured step `lr` may be one of its numbers. Gradients with a condition that is false
  // change nothing on the device, but count as a step all the same. A parameter at several places of the module takes
  // one step, and the new numbers are at all of them. Errors (of the recording, of the rule; a rate that is negative,
  // infinite or NaN; gradients of which none belongs to the module; an average of another one): module and optimizer
  // are as before. `average`: of the weights after this step, updated by the same program; null: none.
  void step(const lr::ModuleLearningRate& lr, const nn::ModuleWalk& module, GradientsParams gradients,
            const client::Site& site = {}, ModuleAverage* average = nullptr);

  // What is remembered, by the parameters' paths: "conv1.weight/moment_1", "conv1.weight/step". Of a parameter at
  // several places it is under the first path, and found under each.
  Record to_record(const nn::ModuleWalk& module) const;
  // The same record, whose tensors are asked for when they are wanted (Record::insert_sources).
  Record snapshot(const nn::ModuleWalk& module) const;
  // Whether it, or the optimizer of a group, limits gradients by itself.
  bool has_grad_clipping() const;
  // Errors: a record of another optimizer; a tensor missing, left over, not of floats, or of another shape than its
  // parameter. Nothing is changed then.
  void load_record(const nn::ModuleWalk& module, const Record& record);

  // As an argument of a captured step: its states, and itself as the host that counts steps.
  friend void capture_fields(client::CaptureState& state, ModuleOptimizer& optimizer) {
    optimizer.list_captured(state);
  }

 private:
  class StepRecording;

  // The record without the tensors, each of which `body` is called with.
  Record record_without_tensors(const nn::ModuleWalk& module,
                                const std::function<void(std::string name, const client::Value&)>& body) const;
  void list_captured(client::CaptureState& state);
  // What is remembered of a parameter goes where the parameter is.
  static void follow(std::vector<client::Value>& tensors, const std::shared_ptr<client::DeviceState>& device);
  std::vector<double> captured_numbers(std::uint64_t key, double lr) const override;
  void captured_advance(std::span<const std::uint64_t> keys) override;
  static std::optional<TensorState> state_of(const std::string& path, const Slot& slot, const Record& record,
                                             const TensorOptimizer& rule);
  std::size_t member_of(ParamId id, const std::vector<std::string>& paths) const;  // which of members_
  const TensorOptimizer& rule_of(ParamId id) const;  // of a parameter that has taken a step
  std::string name() const;                          // of all rules: "adam", "adam+sgd"
  // As split_state() says: the parameter after its step, and what is remembered of it.
  void place(client::Value& param, std::vector<client::Value>& tensors) const;

  // Which rule steps which parameters: the first steps all that the others do not.
  struct Member {
    ParamGroup group;
    std::shared_ptr<const TensorOptimizer> rule;
    std::optional<GradientClippingConfig> clipping;
  };
  std::vector<Member> members_;
  std::optional<StateSplit> split_{};
  std::map<ParamId, std::size_t> member_of_{};  // of the parameters that have taken a step, where there are groups
  std::map<ParamId, TensorState> states_;       // ordered: a captured step meets them in the same order each time
};

}  // namespace burn::optim
