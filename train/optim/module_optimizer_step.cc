// Records a step: the update of each parameter that has a gradient, before anything is changed.
#include <string>
#include <vector>

#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/formula.h"
#include "client/record/capture_log.h"
#include "nn/module/visit.h"
#include "train/optim/module_optimizer.h"
#include "train/optim/sparse_update.h"
#include "train/optim/step_numbers.h"
#include "train/optim/tied_params.h"

namespace burn::optim {
namespace {

using client::current_site;

// Whether the step is taken, a bool of rank 0 for each device: nothing that it is computed from has failed and the
// gradients' condition, if any, is true. Recorded once, before the first update, as everything in a step that can fail
// precedes it.
class Decision {
 public:
  explicit Decision(const client::Value& condition) {
    if (condition.has_value()) condition_ = client::reshape(condition, ir::Shape{}, current_site());
  }

  const client::Value& on(const client::Place& place) {
    for (const auto& known : per_device_) {
      if (known.device() == place.device) return known;
    }
    auto ok = client::commit({place.device}, current_site());
    if (condition_.has_value()) ok = client::pointwise(ir::PointwiseFn::bool_and, ok, condition_, current_site());
    return per_device_.emplace_back(std::move(ok));
  }
  void drop_values() {
    per_device_.clear();
    condition_ = {};
  }

 private:
  client::Value condition_;
  std::vector<client::Value> per_device_;
};

// Selects the old parameter and its old state if the step is not taken. Before the first step, the old state is zeros.
void undo_unless(const client::Value& ok, const client::Value& param, client::Value& updated,
                 const std::vector<client::Value>& before, std::vector<client::Value>& tensors) {
  updated = client::select(ok, updated, param, current_site());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto& old = i < before.size() ? before[i]
                                        : client::filled(client::place_of(param), tensors[i].shape(), 0,
                                                         tensors[i].dtype(), current_site());
    tensors[i] = client::select(ok, tensors[i], old, current_site());
  }
}

}  // namespace

// The updates of one step. An error while they are being recorded does not change module and optimizer.
class ModuleOptimizer::StepRecording {
 public:
  StepRecording(ModuleOptimizer& optimizer, const lr::ModuleLearningRate& lr, const nn::ModuleWalk& module,
                GradientsParams& gradients)
      : optimizer_(optimizer),
        lr_(lr),
        module_(module),
        gradients_(gradients),
        decision_(gradients.condition()),
        numbers_(optimizer) {
    updates_.reserve(optimizer.states_.size());
  }

  // Records the update of every parameter that has a gradient, and removes the gradient.
  void record() {
    if (optimizer_.members_.size() > 1 || lr_.has_groups()) {
      nn::for_each_slot_with_paths(module_, [&](const std::vector<std::string>& paths, Slot& slot) {
        has_ties_ |= paths.size() > 1;
        record(paths, slot);
      });
    } else {  // no group asks for paths
      nn::for_each_place(module_, [&](Slot& slot, bool is_first) {
        has_ties_ |= !is_first;
        if (is_first) record({}, slot);
      });
    }
    if (updates_.empty() && !gradients_.empty()) {
      client::fail("step: none of the " + std::to_string(gradients_.size()) +
                       " gradients belongs to a parameter of this module that is trained",
                   current_site());
    }
  }

  // Stores the recorded parameters and states in module and optimizer.
  void take_over() {
    std::vector<std::uint64_t> stepped;
    stepped.reserve(updates_.size());
    for (auto& [slot, value, state, member] : updates_) {
      if (optimizer_.members_.size() > 1) optimizer_.member_of_[slot->id] = member;
      slot->value = std::move(value);
      optimizer_.states_[slot->id] = std::move(state);
      stepped.push_back(slot->id);
    }
    if (has_ties_) nn::share_parameters(module_);
    if (auto* capture = client::CaptureLog::active()) capture->advance(optimizer_, std::move(stepped));
    gradients_.clear();
    decision_.drop_values();
    numbers_.drop_values();
  }

  // Sends what this thread has recorded for the parameters' devices.
  void flush() const { numbers_.flush(); }

 private:
  struct Update {
    Slot* slot;
    client::Value value;  // the parameter after the step
    TensorState state;    // its state after the step
    std::size_t member;   // index of the member with its rule
  };

  void record(const std::vector<std::string>& paths, Slot& slot) {
    if (!slot.is_trainable()) return;
    const auto which = optimizer_.member_of(slot.id, paths);
    const auto& member = optimizer_.members_[which];
    const auto known = optimizer_.states_.find(slot.id);
    TensorState state = known == optimizer_.states_.end() ? TensorState{} : known->second;
    const auto sparse = gradients_.get_sparse(slot.id);
    client::Value updated;
    if (sparse && detail::steps_rows(*member.rule, slot, module_)) {
      gradients_.remove_sparse(slot.id);
      updated = update_rows(member, paths, slot, *sparse, state);
    } else if (const auto gradient = gradients_.remove(slot.id)) {
      updated = update_all(member, paths, slot, *gradient, state);
    } else {
      return;
    }
    updates_.push_back({&slot, client::require_grad(updated), std::move(state), which});
  }

  client::Value update_rows(const Member& member, const std::vector<std::string>& paths, const Slot& slot,
                            const client::SparseGradient& gradient, TensorState& state) {
    auto rows = client::summed(gradient, current_site());
    if (member.clipping) rows = clip(*member.clipping, std::move(rows));
    const auto& ok = decision_.on(client::place_of(slot.value));
    follow(state.tensors, slot.value.device());
    const auto numbers =
        numbers_.get(*member.rule, detail::rate_of(lr_, slot.id, paths), slot.id, rows.rows, ++state.step);
    return detail::step_rows(*member.rule, numbers, slot.value.inner(), rows, ok, state.tensors);
  }

  client::Value update_all(const Member& member, const std::vector<std::string>& paths, const Slot& slot,
                           client::Value gradient, TensorState& state) {
    // The step of 16-bit parameters is computed in f32, and their state is f32; only the new parameter is rounded.
    gradient = client::to_compute_dtype(gradient, current_site());
    if (member.clipping) gradient = clip(*member.clipping, gradient);
    const auto old = slot.value.inner();
    const auto param = client::to_compute_dtype(old, current_site());
    const auto& ok = decision_.on(client::place_of(param));
    follow(state.tensors, param.device());
    const auto numbers = numbers_.get(*member.rule, detail::rate_of(lr_, slot.id, paths), slot.id, param, ++state.step);
    const auto before = state.tensors;
    auto updated =
        client::cast(member.rule->update(numbers, param, gradient, state.tensors), old.dtype(), current_site());
    undo_unless(ok, old, updated, before, state.tensors);
    optimizer_.place(updated, state.tensors);
    return updated;
  }

  ModuleOptimizer& optimizer_;
  const lr::ModuleLearningRate& lr_;
  const nn::ModuleWalk& module_;
  GradientsParams& gradients_;
  Decision decision_;
  detail::StepNumbers numbers_;
  std::vector<Update> updates_;
  bool has_ties_ = false;  // a parameter is at several places of the module
};

void ModuleOptimizer::step(const lr::ModuleLearningRate& lr, const nn::ModuleWalk& module, GradientsParams gradients,
                           const client::Site& site, ModuleAverage* average) {
  const client::SiteScope scope{site};
  detail::check_rates(lr);
  if (average != nullptr) average->check_fits(module);
  const Autocast pause{ir::DType::f32};
  StepRecording recording{*this, lr, module, gradients};
  recording.record();
  recording.take_over();
  if (average != nullptr) average->update(module, site);
  recording.flush();
}

}  // namespace burn::optim
