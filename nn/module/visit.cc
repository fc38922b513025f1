#include "nn/module/visit.h"

#include <algorithm>
#include <functional>
#include <string>

#include "base/error.h"
#include "client/tensor/untyped.h"
#include "nn/module/module.h"
#include "nn/module/module_path.h"
#include "nn/module/reparameterization.h"
#include "nn/module/tied.h"

namespace burn::nn {
namespace {

// A tensor of a module. `next`: index of the next place of the same parameter in the list; 0: none.
struct Place {
  std::string path;
  Slot* slot;
  bool is_first;
  std::size_t next = 0;
};

std::string url(const Slot& slot) {
  return Device{slot.value.device()}.url() + (slot.value.is_autodiff() ? " (autodiff)" : "");
}

[[noreturn]] void fail_differ(const Place& first, const Place& later) {
  const Slot &a = *first.slot, &b = *later.slot;
  std::string what;
  if (url(a) != url(b))
    what = "it is on " + url(a) + " at the first and on " + url(b) + " at the second";
  else if (a.value.dtype() != b.value.dtype())
    what = "it is " + ir::to_string(a.value.type()) + " at the first and " + ir::to_string(b.value.type()) +
           " at the second";
  else if (a.wants_grad() != b.wants_grad())
    what = std::string{"it is "} + (a.wants_grad() ? "trained" : "frozen") + " at the first and " +
           (b.wants_grad() ? "trained" : "frozen") + " at the second";
  else
    what = "its numbers were replaced at one of them";
  throw Error(StatusCode::failed_precondition,
              "\"" + first.path + "\" and \"" + later.path + "\" are copies of one parameter, but " + what +
                  ". Assign one to the other, or give one parameters of its own with nn::fresh()");
}

// All tensors with their dotted paths.
class PlaceVisitor final : public ModuleVisitor {
 public:
  void enter(std::string_view name, std::string_view) override { path_.enter(name); }
  void leave() override { path_.leave(); }
  void slot(std::string_view name, Slot& slot) override {
    path_.enter(name);
    client::fail_if_empty(slot.value, path_.text().c_str(), {});
    const auto number = places_.size();
    const auto* first = firsts_.find_or_add(slot, number);
    places_.push_back({path_.text(), &slot, first == nullptr});
    if (first != nullptr) join(first->number, number);
    path_.leave();
  }

  const std::vector<Place>& places() const { return places_; }

 private:
  void join(std::size_t first, std::size_t number) {
    if (!detail::agree(*places_[first].slot, *places_[number].slot)) fail_differ(places_[first], places_[number]);
    auto last = first;
    while (places_[last].next != 0) last = places_[last].next;
    places_[last].next = number;
  }

  detail::ModulePath path_;
  std::vector<Place> places_;
  detail::FirstPlaces firsts_;
};

bool is_same(const Slot& a, const Slot& b) {
  return a.id == b.id && a.is_frozen == b.is_frozen && a.value.storage() == b.value.storage() &&
         a.value.tape().get() == b.value.tape().get() && a.value.is_autodiff() == b.value.is_autodiff();
}

// Calls body(place) for the first place of every tensor, then copies the slot to the other places if body has changed
// it. Otherwise nothing is written: the module may be const, and its places may be different leaves.
template <typename Body>
void for_each_first(const std::vector<Place>& places, Body&& body) {
  for (const auto& place : places) {
    if (!place.is_first) continue;
    if (place.next == 0) {
      body(place);
      continue;
    }
    const Slot before = *place.slot;
    body(place);
    if (is_same(before, *place.slot)) continue;
    for (auto i = place.next; i != 0; i = places[i].next) *places[i].slot = *place.slot;
  }
}

class SharingVisitor final : public ModuleVisitor {
 public:
  void enter(std::string_view, std::string_view) override {}
  void leave() override {}
  void slot(std::string_view, Slot& slot) override {
    if (const auto* first = firsts_.find_or_add(slot)) slot = *first->slot;
  }

 private:
  detail::FirstPlaces firsts_;
};

// Visits without paths; finds them only for an error.
class UnnamedVisitor final : public ModuleVisitor {
 public:
  UnnamedVisitor(const ModuleWalk& walk, const std::function<void(Slot&, bool)>& body) : walk_(walk), body_(body) {}
  void enter(std::string_view, std::string_view) override {}
  void leave() override {}
  void slot(std::string_view, Slot& slot) override {
    const auto* first = slot.value.has_value() ? firsts_.find_or_add(slot) : nullptr;
    if (!slot.value.has_value() || (first != nullptr && !detail::agree(*first->slot, slot))) [[unlikely]]
      for_each_slot(walk_, [](const std::string&, Slot&) {});  // throws, with the path
    body_(slot, first == nullptr);
  }

 private:
  const ModuleWalk& walk_;
  const std::function<void(Slot&, bool)>& body_;
  detail::FirstPlaces firsts_;
};

}  // namespace

void ModuleVisitor::param(std::string_view name, ParamBase& param) {
  slot(name, param.slot());
  if (!param.is_adapted()) return;
  auto& [how, slots] = param.adapter();
  enter(name, how->name());
  for (std::size_t i = 0; i < slots.size(); ++i) slot(how->adapter_names()[i], slots[i]);
  leave();
}

void for_each_slot(const ModuleWalk& walk, const std::function<void(const std::string&, Slot&)>& body) {
  PlaceVisitor visitor;
  walk(visitor);
  for_each_first(visitor.places(), [&](const Place& place) { body(place.path, *place.slot); });
}

void for_each_slot_with_paths(const ModuleWalk& walk,
                              const std::function<void(const std::vector<std::string>&, Slot&)>& body) {
  PlaceVisitor visitor;
  walk(visitor);
  const auto& places = visitor.places();
  std::vector<std::string> paths;
  for_each_first(places, [&](const Place& place) {
    paths.assign(1, place.path);
    for (auto i = place.next; i != 0; i = places[i].next) paths.push_back(places[i].path);
    body(paths, *place.slot);
  });
}

void for_each_place(const ModuleWalk& walk, const std::function<void(Slot&, bool is_first)>& body) {
  UnnamedVisitor visitor{walk, body};
  walk(visitor);
}

void share_parameters(const ModuleWalk& walk) {
  SharingVisitor visitor;
  walk(visitor);
}

namespace detail {
namespace {

[[noreturn]] void fail_pair(const std::string& what) {
  throw Error(StatusCode::invalid_argument, "for_each_pair: " + what);
}

}  // namespace

void for_each_pair(const ModuleWalk& a, const ModuleWalk& b,
                   const std::function<void(const std::string&, Slot&, Slot&)>& body) {
  PlaceVisitor of_a, of_b;
  a(of_a);
  b(of_b);
  const auto &as = of_a.places(), &bs = of_b.places();
  for (std::size_t i = 0; i < std::max(as.size(), bs.size()); ++i) {
    if (i >= as.size()) fail_pair("the second module has a tensor \"" + bs[i].path + "\", the first has none");
    if (i >= bs.size()) fail_pair("the first module has a tensor \"" + as[i].path + "\", the second has none");
    if (as[i].path != bs[i].path)
      fail_pair("the first module has a tensor \"" + as[i].path + "\" where the second has \"" + bs[i].path + "\"");
    const Slot &x = *as[i].slot, &y = *bs[i].slot;
    if (x.value.shape() != y.value.shape() || x.role != y.role) {
      fail_pair("\"" + as[i].path + "\" is " + ir::to_string(x.value.type()) + " in the first module and " +
                ir::to_string(y.value.type()) + " in the second");
    }
    if (x.value.device() != y.value.device()) {
      fail_pair("\"" + as[i].path + "\" is on " + Device{x.value.device()}.url() + " in the first module and on " +
                Device{y.value.device()}.url() + " in the second");
    }
    if (as[i].is_first != bs[i].is_first)
      fail_pair("\"" + as[i].path + "\" is a parameter of its own in one module and tied to another in the other");
  }
  std::size_t i = 0;
  for_each_first(bs, [&](const Place& place) {
    while (!as[i].is_first) ++i;  // first places are the same in a and b
    body(place.path, *as[i++].slot, *place.slot);
  });
}

void put_of_pair(const std::string& path, Slot& slot, const client::Value& value) {
  if (value.storage() == slot.value.storage()) return;
  if (value.shape() != slot.value.shape()) {
    fail_pair("\"" + path + "\" is " + ir::to_string(slot.value.type()) + " in the second module, it cannot become " +
              ir::to_string(value.type()));
  }
  slot.put(client::cast(value.inner(), slot.value.dtype(), {}), slot.value.is_autodiff());
}

}  // namespace detail
}  // namespace burn::nn
