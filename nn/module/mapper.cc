#include "nn/module/mapper.h"

#include "base/error.h"
#include "nn/module/module_path.h"
#include "nn/module/tied.h"

namespace burn::nn {
namespace {

// Walks with paths; `Target` is a TensorVisitor or a ModuleMapper. Calls body(path, slot) for the first place of each
// tensor, whose slot is then copied to its other places.
template <typename Target, typename Body>
class PathVisitor final : public ModuleVisitor {
 public:
  PathVisitor(Target& target, Body& body) : target_(target), body_(body) {}

  void enter(std::string_view name, std::string_view type) override {
    path_.enter(name);
    target_.enter_module(path_.text(), type);
  }
  void leave() override {
    target_.leave_module(path_.text());
    path_.leave();
  }
  void slot(std::string_view name, Slot& slot) override {
    path_.enter(name);
    client::fail_if_empty(slot.value, path_.text().c_str(), {});
    if (const auto* first = firsts_.find_or_add(slot))
      copy_if_changed(*first->slot, slot);
    else
      body_(path_.text(), slot);
    path_.leave();
  }

 private:
  // Copies `first` to `later` only if it has changed: the module may be const.
  static void copy_if_changed(const Slot& first, Slot& later) {
    if (first.value.storage() != later.value.storage()) later = first;
  }

  Target& target_;
  Body& body_;
  detail::ModulePath path_;
  detail::FirstPlaces firsts_;
};

template <typename Target, typename Body>
void walk_with_paths(const ModuleWalk& walk, Target& target, Body&& body) {
  PathVisitor<Target, std::remove_reference_t<Body>> visitor{target, body};
  walk(visitor);
}

bool has_kind_of(const client::Value& a, const client::Value& b) {
  return ir::is_floating(a.dtype()) == ir::is_floating(b.dtype()) && ir::is_bool(a.dtype()) == ir::is_bool(b.dtype());
}

}  // namespace

void detail::visit(const ModuleWalk& walk, TensorVisitor& visitor) {
  walk_with_paths(walk, visitor, [&](const std::string& path, const Slot& slot) {
    const auto dtype = slot.value.dtype();
    if (ir::is_floating(dtype))
      visitor.visit_float(path, slot);
    else if (ir::is_bool(dtype))
      visitor.visit_bool(path, slot);
    else
      visitor.visit_int(path, slot);
  });
}

void detail::map(const ModuleWalk& walk, ModuleMapper& mapper) {
  for_each_slot(walk, [](const std::string&, Slot&) {});  // reports errors of the module before anything is changed
  walk_with_paths(walk, mapper, [&](const std::string& path, Slot& slot) {
    const auto dtype = slot.value.dtype();
    const auto mapped = ir::is_floating(dtype) ? mapper.map_float(path, slot)
                        : ir::is_bool(dtype)   ? mapper.map_bool(path, slot)
                                               : mapper.map_int(path, slot);
    client::fail_if_empty(mapped, path.c_str(), {});
    if (mapped.rank() != slot.value.rank() || !has_kind_of(mapped, slot.value)) {
      throw Error(StatusCode::invalid_argument, "map: \"" + path + "\" is " + ir::to_string(slot.value.type()) +
                                                    ", it cannot become " + ir::to_string(mapped.type()));
    }
    if (mapped.storage() != slot.value.storage()) slot.put(mapped.inner(), slot.value.is_autodiff());
  });
}

}  // namespace burn::nn
