#include "train/optim/module_optimizer.h"

#include <bit>
#include <string>

#include "base/error.h"
#include "client/ops/ops.h"
#include "nn/module/visit.h"
#include "train/optim/tied_params.h"

namespace burn::optim {

using client::current_site;

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
    if (x.rank() == 0 || x.dim(0) < 2 || x.type().num_elements() < kMinSplit) return;
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

void ModuleOptimizer::follow(std::vector<client::Value>& tensors, const std::shared_ptr<client::DeviceState>& device) {
  for (auto& tensor : tensors) {
    if (tensor.device() != device) tensor = nn::on_device(tensor, Device{device});
  }
}

// Parameters at the same step share its numbers, so the recorded program depends on the differences between their step
// counts, but not on the counts themselves.
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
