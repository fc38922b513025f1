// The state of optimizers as records.
#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "client/tensor/untyped.h"
#include "nn/module/visit.h"
#include "train/optim/module_optimizer.h"
#include "train/optim/tied_params.h"

namespace burn::optim {
namespace {

constexpr const char* kNameKey = "optimizer";
constexpr const char* kStepName = "step";

std::string key(const std::string& path, std::string_view name) { return path + "/" + std::string{name}; }

[[noreturn]] void misfit(const std::string& name, const TensorData& data, const Slot& slot) {
  throw Error(StatusCode::invalid_argument, "load_record: " + name + " is " + ir::to_string(data.type()) +
                                                " but the parameter is " + ir::to_string(slot.value.type()));
}

}  // namespace

Record ModuleOptimizer::record_without_tensors(
    const nn::ModuleWalk& module, const std::function<void(std::string, const client::Value&)>& body) const {
  Record record;
  record.metadata()[kNameKey] = name();
  nn::for_each_slot(module, [&](const std::string& path, Slot& slot) {
    const auto found = states_.find(slot.id);
    if (found == states_.end()) return;
    const auto& state = found->second;
    record.insert(key(path, kStepName), TensorData{std::vector<std::int64_t>{state.step}, {1}});
    const auto kept = rule_of(slot.id).state_tensors(slot.value.shape());
    for (std::size_t i = 0; i < state.tensors.size(); ++i) body(key(path, kept[i].name), state.tensors[i]);
  });
  return record;
}

Record ModuleOptimizer::to_record(const nn::ModuleWalk& module) const {
  std::vector<Record::Read> reads;  // all start before the first wait
  auto record = record_without_tensors(module, [&](std::string name, const client::Value& tensor) {
    reads.emplace_back(std::move(name), client::to_data_async(tensor));
  });
  record.insert_reads(std::move(reads));
  return record;
}

Record ModuleOptimizer::snapshot(const nn::ModuleWalk& module) const {
  std::vector<Record::Source> sources;
  auto record = record_without_tensors(module, [&](std::string name, const client::Value& tensor) {
    sources.push_back(nn::source_of(std::move(name), tensor));
  });
  record.insert_sources(std::move(sources));
  return record;
}

bool ModuleOptimizer::has_grad_clipping() const {
  return std::ranges::any_of(members_, [](const Member& member) { return member.clipping.has_value(); });
}

void ModuleOptimizer::load_record(const nn::ModuleWalk& module, const Record& record) {
  const auto named = record.metadata().find(kNameKey);
  const auto of_record = named == record.metadata().end() ? std::string{"unknown"} : named->second;
  if (of_record != name()) {
    throw Error(StatusCode::invalid_argument,
                "load_record: the record is of optimizer " + of_record + ", this one is " + name());
  }
  std::map<ParamId, TensorState> states;
  std::map<ParamId, std::size_t> members;
  std::size_t used = 0;
  nn::for_each_slot_with_paths(module, [&](const std::vector<std::string>& paths, Slot& slot) {
    const auto found = detail::find_state(record, paths, kStepName);
    if (found.empty()) return;
    const auto which = member_of(slot.id, paths);
    auto state = state_of(found.front(), slot, record, *members_[which].rule);
    if (!state) return;
    used += found.size() * (1 + state->tensors.size());
    states[slot.id] = *std::move(state);
    if (members_.size() > 1) members[slot.id] = which;
  });
  if (used != record.size()) {
    throw Error(StatusCode::invalid_argument, "load_record: " + std::to_string(record.size() - used) +
                                                  " of the record's " + std::to_string(record.size()) +
                                                  " tensors have no place in this optimizer of this module");
  }
  states_ = std::move(states);
  member_of_ = std::move(members);
}

// Returns std::nullopt if the record has no state of the parameter.
std::optional<TensorState> ModuleOptimizer::state_of(const std::string& path, const Slot& slot, const Record& record,
                                                     const TensorOptimizer& rule) {
  const auto* step = record.find(key(path, kStepName));
  if (slot.role != Slot::Role::parameter || step == nullptr) return std::nullopt;
  if (!ir::is_integer(step->dtype()) || step->num_elements() != 1) misfit(key(path, kStepName), *step, slot);
  TensorState state{step->convert<std::int64_t>().to_vec<std::int64_t>()[0], {}};
  const client::Place place{slot.value.device()};
  for (const auto& [name, shape] : rule.state_tensors(slot.value.shape())) {
    const auto& data = record.get(key(path, name));
    if (data.shape() != shape || !ir::is_floating(data.dtype())) misfit(key(path, name), data, slot);
    state.tensors.push_back(
        client::upload(place, data.convert_dtype(ir::compute_dtype(slot.value.dtype())).host_tensor()));
  }
  return state;
}

}  // namespace burn::optim
