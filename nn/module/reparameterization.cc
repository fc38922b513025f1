#include "nn/module/reparameterization.h"

#include <map>

#include "base/error.h"
#include "nn/module/module_path.h"

namespace burn {

client::Value ParamBase::adapted(const client::Site& site) const {
  return adapter_.how->value(slot_.value, adapter_.slots, site);
}

namespace nn {
namespace {

[[noreturn]] void fail_to_adapt(const std::string& what) {
  throw Error(StatusCode::invalid_argument, "apply_reparameterization: " + what);
}

// Collects all parameters with their paths; all places of one parameter are in one entry.
class ParamCollector final : public ModuleVisitor {
 public:
  struct Found {
    std::vector<std::string> paths;
    std::vector<ParamBase*> places;
  };

  void enter(std::string_view name, std::string_view) override { path_.enter(name); }
  void leave() override { path_.leave(); }
  void slot(std::string_view, Slot&) override {}
  void param(std::string_view name, ParamBase& param) override {
    path_.enter(name);
    const auto [at, is_first] = index_.try_emplace(param.id(), found_.size());
    if (is_first) found_.emplace_back();
    found_[at->second].paths.push_back(path_.text());
    found_[at->second].places.push_back(&param);
    path_.leave();
  }

  const std::vector<Found>& found() const { return found_; }  // in the order of their first places

 private:
  detail::ModulePath path_;
  std::vector<Found> found_;
  std::map<ParamId, std::size_t> index_;
};

}  // namespace

Slot adapter_slot(const client::Value& numbers, const Slot& base) {
  Slot slot;
  slot.id = new_param_id();
  slot.value = base.value.is_autodiff() ? client::require_grad(numbers.inner()) : numbers.inner();
  return slot;
}

namespace detail {

void apply_reparameterization(const ModuleWalk& walk, const MakeAdapter& make) {
  for_each_slot(walk, [](const std::string&, Slot&) {});  // reports errors of the module before anything is made
  ParamCollector collector;
  walk(collector);
  std::vector<std::pair<const ParamCollector::Found*, Adapter>> made;
  for (const auto& found : collector.found()) {
    const auto& base = found.places.front()->slot();
    auto adapter = make(found.paths, base);
    if (!adapter) continue;
    if (found.places.front()->is_adapted()) fail_to_adapt("\"" + found.paths.front() + "\" has an adapter already");
    const auto type = adapter->how->value(base.value, adapter->slots, {}).type();
    if (type != base.value.type()) {
      fail_to_adapt("\"" + found.paths.front() + "\" is " + ir::to_string(base.value.type()) + ", its adapter makes " +
                    ir::to_string(type) + " of it");
    }
    made.emplace_back(&found, *std::move(adapter));
  }
  if (made.empty()) fail_to_adapt("none of the " + std::to_string(collector.found().size()) + " parameters is adapted");
  set_require_grad(walk, false);
  for (const auto& [found, adapter] : made) {
    for (auto* place : found->places) place->adapter() = adapter;
  }
}

void merge_adapters(const ModuleWalk& walk) {
  ParamCollector collector;
  walk(collector);
  for (const auto& found : collector.found()) {
    auto& first = *found.places.front();
    if (!first.is_adapted()) continue;
    const auto merged = first.value({}).inner();
    first.slot().put(merged, first.slot().value.is_autodiff());
    for (auto* place : found.places) {
      place->slot() = first.slot();
      place->adapter() = {};
    }
  }
}

}  // namespace detail
}  // namespace nn
}  // namespace burn
