#include "train/optim/module_optimizer.h"

#include <algorithm>
#include <bit>
#include <future>
#include <string>

#include "base/error.h"
#include "client/autocast.h"
#include "client/fail.h"
#include "client/ops/formula.h"
#include "client/record/device_state.h"
#include "client/tensor/untyped.h"
#include "nn/module/visit.h"
#include "train/optim/of_places.h"
#include "train/optim/sparse_update.h"

namespace burn::optim {
namespace {

using client::current_site;

// The numbers of one step as scalars, made once for all parameters of a rule, rate, device and dtype that are at the
// same step.
class StepNumbers {
 public:
  // `host`: gives these numbers when a captured step is replayed.
  explicit StepNumbers(const client::CaptureHost& host) : host_(host) {}

  // For a parameter that is about to take its `step`-th step.
  std::span<const client::Value> get(const TensorOptimizer& rule, Scalar lr, ParamId id, const client::Value& like,
                                     std::int64_t step) {
    const auto same = [&](const Entry& entry) {
      return entry.device == like.device().get() && entry.dtype == like.dtype() && entry.step == step &&
             entry.rule == &rule && entry.lr == std::bit_cast<std::uint64_t>(lr.as_double()) &&
             entry.lr_source == lr.source();
    };
    auto found = std::find_if(entries_.begin(), entries_.end(), same);
    if (found == entries_.end()) found = entries_.insert(entries_.end(), make(rule, lr, id, like, step));
    return found->values;
  }

  void flush() const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto is_same = [&](const Entry& earlier) { return earlier.device == entries_[i].device; };
      if (std::none_of(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(i), is_same)) {
        entries_[i].device->flush();
      }
    }
  }
  void drop_values() {
    for (auto& entry : entries_) entry.values.clear();
  }

 private:
  struct Entry {
    client::DeviceState* device;  // that of a parameter, which the module holds
    ir::DType dtype;
    std::int64_t step;
    const TensorOptimizer* rule;
    std::uint64_t lr, lr_source;  // the rate's bits; which number of a captured step it is
    std::vector<client::Value> values;
  };

  Entry make(const TensorOptimizer& rule, Scalar lr, ParamId id, const client::Value& like, std::int64_t step) const {
    Entry entry{
        like.device().get(), like.dtype(), step, &rule, std::bit_cast<std::uint64_t>(lr.as_double()), lr.source(), {}};
    const client::Place place{like.device()};
    const auto numbers = rule.numbers(lr.as_double(), step);
    if (auto* capture = client::CaptureLog::active()) capture->follow(host_, id, lr, like.dtype(), numbers.size());
    for (const double number : numbers) {
      entry.values.push_back(client::scalar(place, number, like.dtype()));
    }
    return entry;
  }

  const client::CaptureHost& host_;
  std::vector<Entry> entries_;
};

// What is remembered of a parameter goes where the parameter is.
void follow(std::vector<client::Value>& tensors, const std::shared_ptr<client::DeviceState>& device) {
  for (auto& tensor : tensors) {
    if (tensor.device() != device) tensor = nn::on_device(tensor, Device{device});
  }
}

// Whether the step is taken, a bool of rank 0 for each device: nothing that it is computed from has failed and, where
// the gradients have a condition, that is true. Recorded once, before the first update: what fails in a step is in
// front of it.
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

// Where the step is not taken: the old parameter and what was remembered of it, which is zeros where this was to be the
// first step.
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

ModuleOptimizer::ModuleOptimizer(std::shared_ptr<const TensorOptimizer> rule,
                                 std::optional<GradientClippingConfig> clipping)
    : members_{{ParamGroup::all(), std::move(rule), clipping}} {
  if (clipping) check(*clipping);
}

ModuleOptimizer& ModuleOptimizer::with_grad_clipping(const GradientClippingConfig& clipping) {
  check(clipping);
  members_.front().clipping = clipping;
  return *this;
}

ModuleOptimizer& ModuleOptimizer::with_group(ParamGroup group, const ModuleOptimizer& optimizer) {
  const auto reject = [](const std::string& what) {
    throw Error(StatusCode::failed_precondition, "with_group: " + what);
  };
  if (!states_.empty()) reject("this optimizer has taken a step already");
  if (optimizer.members_.size() > 1) reject("the group's optimizer has groups itself");
  if (!optimizer.states_.empty()) reject("the group's optimizer has taken a step already");
  const auto& only = optimizer.members_.front();
  members_.push_back({std::move(group), only.rule, only.clipping});
  return *this;
}

ModuleOptimizer& ModuleOptimizer::split_state(StateSplit split) {
  split_ = split;
  return *this;
}

void ModuleOptimizer::place(client::Value& param, std::vector<client::Value>& tensors) const {
  if (!split_) return;
  const auto split = [](client::Value& x) {
    if (x.rank() == 0 || x.dim(0) < 2 || x.type().num_elements() < kLeastSplit) return;
    x = client::placed(x, 0, ir::MeshAxis::data, "split_state", current_site());
  };
  for (auto& tensor : tensors) split(tensor);
  if (split_->parameters) split(param);
}

std::size_t ModuleOptimizer::member_of(ParamId id, const std::vector<std::string>& paths) const {
  if (members_.size() == 1) return 0;
  return detail::same_for_all(paths, "optimizers", [&](std::string_view path) -> std::size_t {
    for (std::size_t i = members_.size() - 1; i > 0; --i) {
      if (members_[i].group.matches(id, path)) return i;
    }
    return 0;
  });
}

const TensorOptimizer& ModuleOptimizer::rule_of(ParamId id) const {
  const auto found = member_of_.find(id);
  return *members_[found == member_of_.end() ? 0 : found->second].rule;
}

std::string ModuleOptimizer::name() const {
  std::string all;
  for (const auto& member : members_) all += (all.empty() ? "" : "+") + std::string{member.rule->name()};
  return all;
}

void ModuleOptimizer::step(const lr::ModuleLearningRate& lr, const nn::ModuleWalk& module, GradientsParams gradients,
                           const client::Site& site, ModuleAverage* average) {
  const client::SiteScope scope{site};
  detail::check_rates(lr);
  if (average != nullptr) average->check_fits(module);
  struct Next {
    Slot* slot;
    client::Value value;
    TensorState state;
    std::size_t member;
  };
  const Autocast pause{ir::DType::f32};
  Decision decision{gradients.condition()};
  StepNumbers numbers{*this};
  std::vector<Next> next;  // all is recorded before anything is changed
  next.reserve(states_.size());
  bool has_ties = false;
  const auto visit = [&](const std::vector<std::string>& paths, Slot& slot) {
    has_ties |= paths.size() > 1;
    if (!slot.is_trainable()) return;
    const auto which = member_of(slot.id, paths);
    const auto& [group, rule, clipping] = members_[which];
    const auto known = states_.find(slot.id);
    TensorState state = known == states_.end() ? TensorState{} : known->second;
    const auto sparse = gradients.get_sparse(slot.id);
    if (sparse && detail::steps_rows(*rule, slot, module)) {
      gradients.remove_sparse(slot.id);
      auto rows = client::summed(*sparse, current_site());
      if (clipping) rows = clip(*clipping, std::move(rows));
      const auto& ok = decision.on(client::place_of(slot.value));
      follow(state.tensors, slot.value.device());
      const auto step_numbers =
          numbers.get(*rule, detail::rate_of(lr, slot.id, paths), slot.id, rows.rows, ++state.step);
      const auto table = detail::step_rows(*rule, step_numbers, slot.value.inner(), rows, ok, state.tensors);
      next.push_back({&slot, client::require_grad(table), std::move(state), which});
      return;
    }
    auto gradient = gradients.remove(slot.id);
    if (!gradient) return;
    // 16-bit floats are stepped in f32, and so is what is remembered of them: rounded once, as the new parameter.
    *gradient = client::to_compute_dtype(*gradient, current_site());
    if (clipping) gradient = clip(*clipping, *gradient);
    const auto old = slot.value.inner();
    const auto param = client::to_compute_dtype(old, current_site());
    const auto& ok = decision.on(client::place_of(param));
    follow(state.tensors, param.device());
    const auto step_numbers = numbers.get(*rule, detail::rate_of(lr, slot.id, paths), slot.id, param, ++state.step);
    const auto before = state.tensors;
    auto updated =
        client::cast(rule->update(step_numbers, param, *gradient, state.tensors), old.dtype(), current_site());
    undo_unless(ok, old, updated, before, state.tensors);
    place(updated, state.tensors);
    next.push_back({&slot, client::require_grad(updated), std::move(state), which});
  };
  const bool has_groups = members_.size() > 1;
  if (has_groups || lr.has_groups())
    nn::for_each_slot_with_paths(module, visit);
  else
    nn::for_each_place(module, [&](Slot& slot, bool is_first) {  // no group asks for paths
      has_ties |= !is_first;
      if (is_first) visit({}, slot);
    });
  if (next.empty() && !gradients.empty()) {
    client::fail("step: none of the " + std::to_string(gradients.size()) +
                     " gradients belongs to a parameter of this module that is trained",
                 current_site());
  }
  std::vector<std::uint64_t> stepped;
  stepped.reserve(next.size());
  for (auto& [slot, value, state, member] : next) {
    if (has_groups) member_of_[slot->id] = member;
    slot->value = std::move(value);
    states_[slot->id] = std::move(state);
    stepped.push_back(slot->id);
  }
  if (has_ties) nn::share_parameters(module);
  if (auto* capture = client::CaptureLog::active()) capture->advance(*this, std::move(stepped));
  gradients.clear();
  decision.drop_values();
  numbers.drop_values();  // a scalar that is held would become a result
  if (average != nullptr) average->update(module, site);
  numbers.flush();
}

// Parameters share the numbers of a step, so how far they are apart is part of what was recorded; how far they are is
// not.
void ModuleOptimizer::list_captured(client::CaptureState& state) {
  state.host(*this);
  const auto limit = [&](bool given, std::optional<double> value) {
    state.word(given && value ? std::bit_cast<std::uint64_t>(*value) : 0);
  };
  for (const auto& [group, rule, clipping] : members_) {
    state.word(reinterpret_cast<std::uintptr_t>(rule.get()));
    state.keep(rule);
    limit(clipping.has_value(), clipping ? clipping->value : std::nullopt);
    limit(clipping.has_value(), clipping ? clipping->norm : std::nullopt);
  }
  state.word(split_ ? 1 + std::uint64_t{split_->parameters} : 0);
  state.word(states_.size());
  for (auto& [id, of_param] : states_) {
    if (state.device()) follow(of_param.tensors, state.device());
    state.word(id);
    state.word(static_cast<std::uint64_t>(of_param.step - states_.begin()->second.step));
    state.fields(of_param.tensors);
  }
}

std::vector<double> ModuleOptimizer::captured_numbers(std::uint64_t key, double lr) const {
  lr::check_rate("step", lr, current_site());
  const auto found = states_.find(key);
  return rule_of(key).numbers(lr, found == states_.end() ? 1 : found->second.step + 1);
}

void ModuleOptimizer::captured_advance(std::span<const std::uint64_t> keys) {
  for (const auto key : keys) states_[key].step += 1;
}

}  // namespace burn::optim
