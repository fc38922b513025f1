// Walks over the tensors of a module that need no names. Private to train/.
#pragma once

#include <string_view>

#include "nn/module.h"
#include "nn/tied.h"

namespace burn::optim::detail {

template <typename Body>
class UnnamedVisitor : public nn::detail::SlotVisitor {
 public:
  UnnamedVisitor(const nn::detail::Walk& module, Body& body) : module_(module), body_(body) {}
  void enter(std::string_view, std::string_view) override {}
  void leave() override {}
  void slot(std::string_view, Slot& slot) override {
    if (!slot.value.has_value()) [[unlikely]]
      say_which();
    const auto* first = firsts_.find_or_add(slot);
    if (first != nullptr && !nn::detail::agree(*first->slot, slot)) [[unlikely]]
      say_which();
    body_(slot, first == nullptr);
  }

 private:
  void say_which() const {
    nn::detail::for_each_slot(module_, [](const std::string&, Slot&) {});  // throws
  }

  const nn::detail::Walk& module_;
  Body& body_;
  nn::detail::FirstPlaces firsts_;
};

// Calls body(slot, is_first) for every place of the module's tensors; is_first: it is not a further place of a
// parameter. The body changes nothing. Errors (thrown): a tensor that is empty, or places of one parameter that differ,
// by their paths.
template <typename Body>
void visit_places(const nn::detail::Walk& module, Body body) {
  UnnamedVisitor<Body> visitor{module, body};
  module(visitor);
}

// Calls body(slot) for every tensor of the module once. Errors: as above.
template <typename Body>
void visit_slots(const nn::detail::Walk& module, Body body) {
  visit_places(module, [&](Slot& slot, bool is_first) {
    if (is_first) body(slot);
  });
}

}  // namespace burn::optim::detail
