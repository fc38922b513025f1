// Applies an optimizer's rule to every parameter of a module, and holds the state of each.
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

// Which tensors a router splits over its workers along the first axis, instead of having all of them on each worker.
// Optimizer state is always split.
struct StateSplit {
  bool parameters = false;  // splits parameters, too; they are gathered where they are used
};

template <typename C>
concept OptimizerConfig = requires(const C& config) {
  { config.init() } -> std::same_as<ModuleOptimizer>;
};

// Independent of the module's type; Optimizer<M> adds the type. A value; one thread at a time.
class ModuleOptimizer : private client::CaptureHost {
 public:
  explicit ModuleOptimizer(std::shared_ptr<const TensorOptimizer> rule,
                           std::optional<GradientClippingConfig> clipping = std::nullopt);
  template <OptimizerConfig C>
  ModuleOptimizer(const C& config) : ModuleOptimizer(config.init()) {}  // NOLINT: a configuration is an optimizer

  // Sets the clipping of all gradients; a group has the clipping of its own optimizer.
  ModuleOptimizer& with_grad_clipping(const GradientClippingConfig& clipping);
  // Assigns the parameters of a group to another optimizer: AdamConfig{...} for all, and SgdConfig{...} for "head". A
  // parameter belongs to the last group that contains it; a parameter at several places must be in the same group by
  // each of its paths, or its first step is an error. Must be called before the first step. Errors (thrown): an
  // optimizer that has groups itself, or has taken a step.
  ModuleOptimizer& with_group(ParamGroup group, const ModuleOptimizer& optimizer);

  // On a router, saves memory at the cost of communication: each of N workers holds 1/N of the state, gets the sums of
  // 1/N of the gradients, and computes 1/N of the step; then the parameters are gathered (ZeRO-1: Rajbhandari et al.,
  // arXiv:1910.02054). Tensors of fewer than kMinSplit elements are not split. On other devices it has no effect.
  ModuleOptimizer& split_state(StateSplit split = {});
  static constexpr std::int64_t kMinSplit = 1024;

  // Updates the parameters that have a gradient, in place, and sends what this thread has recorded: forward, backward
  // and step become one program. Does not wait, except in the first step on another device, to which the state is
  // moved. In a captured step `lr` may be one of its numbers. Gradients with a condition that is false change nothing
  // on the device, but still count as a step. A parameter at several places of the module takes one step, whose result
  // is copied to all places. `average`: updated by the same program with the weights after this step; null: none.
  // Errors, without changing module and optimizer: those of the recording and of the rule; a rate that is negative,
  // infinite or NaN; none of the gradients belongs to the module; an average of another module.
  void step(const lr::ModuleLearningRate& lr, const nn::ModuleWalk& module, GradientsParams gradients,
            const client::Site& site = {}, ModuleAverage* average = nullptr);

  // The state, by the parameters' paths: "conv1.weight/moment_1", "conv1.weight/step". For a parameter at several
  // places it is stored under the first path; load_record() finds it under any of them.
  Record to_record(const nn::ModuleWalk& module) const;
  // The same record, but its tensors are read only when the record needs them (Record::insert_sources).
  Record snapshot(const nn::ModuleWalk& module) const;
  // Whether this optimizer, or that of a group, clips gradients itself.
  bool has_grad_clipping() const;
  // Errors, without changing anything: a record of another optimizer; a tensor that is missing, left over, not of
  // floats, or of another shape than its parameter.
  void load_record(const nn::ModuleWalk& module, const Record& record);

  // Lists the state for a captured step, and this object as the host that counts steps.
  friend void capture_fields(client::CaptureState& state, ModuleOptimizer& optimizer) {
    optimizer.list_captured(state);
  }

 private:
  class StepRecording;

  // Returns the record without its tensors, and calls `body` with each of them.
  Record record_without_tensors(const nn::ModuleWalk& module,
                                const std::function<void(std::string name, const client::Value&)>& body) const;
  void list_captured(client::CaptureState& state);
  // Moves the state of a parameter to the parameter's device.
  static void follow(std::vector<client::Value>& tensors, const std::shared_ptr<client::DeviceState>& device);
  std::vector<double> captured_numbers(std::uint64_t key, double lr) const override;
  void captured_advance(std::span<const std::uint64_t> keys) override;
  static std::optional<TensorState> state_of(const std::string& path, const Slot& slot, const Record& record,
                                             const TensorOptimizer& rule);
  std::size_t member_of(ParamId id, const std::vector<std::string>& paths) const;  // index in members_
  const TensorOptimizer& rule_of(ParamId id) const;  // of a parameter that has taken a step
  std::string name() const;                          // names of all rules: "adam", "adam+sgd"
  // Splits the updated parameter and its state as set by split_state().
  void place(client::Value& param, std::vector<client::Value>& tensors) const;

  // A rule and the parameters that it updates. The first member updates all parameters that no other one does.
  struct Member {
    ParamGroup group;
    std::shared_ptr<const TensorOptimizer> rule;
    std::optional<GradientClippingConfig> clipping;
  };
  std::vector<Member> members_;
  std::optional<StateSplit> split_{};
  std::map<ParamId, std::size_t> member_of_{};  // for parameters that have taken a step, if there are groups
  std::map<ParamId, TensorState> states_;       // ordered, so that captured steps visit them in the same order
};

}  // namespace burn::optim
