// Selects some of a module's parameters, by path, pattern or id, for an optimizer, a schedule, freezing or a record.
//
//   const auto norms = ParamGroup::from_regex("norm_[0-9]\\.(gamma|beta)");
//   optim.with_group(norms, optim::AdamWConfig{.weight_decay = 0});
#pragma once

#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/module/module.h"

namespace burn {

// A value, cheap to copy; any thread. A path is that of a record: "layers.0.linear.weight".
class ParamGroup {
 public:
  using Predicate = std::function<bool(std::string_view path)>;

  static ParamGroup all();
  // The parameter with this path, or all below it: "layers.0" contains "layers.0.linear.weight".
  static ParamGroup from_path(std::string path);
  static ParamGroup from_paths(std::vector<std::string> paths);
  static ParamGroup from_predicate(Predicate holds);
  static ParamGroup from_any_predicates(std::vector<Predicate> predicates);
  static ParamGroup from_predicates(std::vector<Predicate> predicates);  // all of them must hold
  // Paths in which the pattern (ECMAScript) is found anywhere; begin it with ^ and end it with $ to match whole paths.
  // Errors (thrown): an invalid pattern.
  static ParamGroup from_regex(const std::string& pattern);
  static ParamGroup from_any_regexes(const std::vector<std::string>& patterns);
  static ParamGroup from_regexes(const std::vector<std::string>& patterns);  // all of them must be found
  static ParamGroup from_ids(std::vector<ParamId> ids);
  // The parameters of a module. They are found by id, so also in its copies and in modules that contain one.
  template <Module M>
  static ParamGroup from_module(const M& module) {
    return from_ids(ids_from_module(module));
  }
  template <Module M>
  static std::vector<ParamId> ids_from_module(const M& module) {
    std::vector<ParamId> ids;
    nn::for_each_slot(const_cast<M&>(module).walk(), [&](const std::string&, Slot& slot) {
      if (slot.role == Slot::Role::parameter) ids.push_back(slot.id);
    });
    return ids;
  }

  ParamGroup fuse(const ParamGroup& other) const;     // parameters in at least one of the two
  ParamGroup exclude(const ParamGroup& other) const;  // parameters in this group and not in `other`
  bool matches(ParamId id, std::string_view path) const { return matches_(id, path); }
  // The first of a parameter's paths that is in the group; null if none is.
  const std::string* first_match(ParamId id, const std::vector<std::string>& paths) const;

 private:
  using Matches = std::function<bool(ParamId, std::string_view)>;
  explicit ParamGroup(Matches matches) : matches_(std::move(matches)) {}

  Matches matches_;
};

namespace nn {

// Returns the module with the parameters of a group frozen, as by no_grad(), or trainable again. The others do not
// change. A parameter at several places is in the group if one of its paths is.
template <Module M>
M freeze_group(const M& module, const ParamGroup& group) {
  M copy = module;
  for_each_slot_with_paths(copy.walk(), [&](const std::vector<std::string>& paths, Slot& slot) {
    if (group.first_match(slot.id, paths) != nullptr) slot.set_require_grad(false);
  });
  return copy;
}
template <Module M>
M unfreeze_group(const M& module, const ParamGroup& group) {
  M copy = module;
  for_each_slot_with_paths(copy.walk(), [&](const std::vector<std::string>& paths, Slot& slot) {
    if (group.first_match(slot.id, paths) != nullptr) slot.set_require_grad(true);
  });
  return copy;
}
// The tensors of a group by path, read from the device, like module.into_record() for a part of the module. A parameter
// at several places is recorded once, by its first path that is in the group.
template <Module M>
Record into_record_group(const M& module, const ParamGroup& group) {
  std::vector<std::pair<std::string, std::future<TensorData>>> reads;  // all start before the first wait
  for_each_slot_with_paths(const_cast<M&>(module).walk(), [&](const std::vector<std::string>& paths, Slot& slot) {
    if (const auto* path = group.first_match(slot.id, paths))
      reads.emplace_back(*path, client::to_data_async(for_record(slot)));
  });
  Record record;
  for (auto& [path, data] : reads) record.insert(path, data.get());
  return record;
}
// Returns the module with the record's values in the tensors of a group; the others do not change. Errors (thrown):
// those of module.load_record(), for the tensors of the group.
template <Module M>
M load_record_group(const M& module, const Record& record, const ParamGroup& group) {
  M copy = module;
  load_record(copy.walk(), record, M::module_name(), [&](const Slot& slot, const std::vector<std::string>& paths) {
    return group.first_match(slot.id, paths) != nullptr;
  });
  return copy;
}

}  // namespace nn
}  // namespace burn
