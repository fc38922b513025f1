// A walk over the tensors of a module that needs no names. Private to train/.
#pragma once

#include <string_view>

#include "nn/module.h"

namespace burn::optim::detail {

template <typename Body>
class UnnamedVisitor : public nn::detail::SlotVisitor {
 public:
  UnnamedVisitor(const nn::detail::Walk& module, Body& body) : module_(module), body_(body) {}
  void enter(std::string_view, std::string_view) override {}
  void leave() override {}
  void slot(std::string_view, Slot& slot) override {
    if (!slot.value.has_value()) [[unlikely]] {
      nn::detail::for_each_slot(module_, [](const std::string&, Slot&) {});  // says which
    }
    body_(slot);
  }

 private:
  const nn::detail::Walk& module_;
  Body& body_;
};

// Calls body(slot) for every tensor of the module. Errors (thrown): one that is empty, by its path.
template <typename Body>
void visit_slots(const nn::detail::Walk& module, Body body) {
  UnnamedVisitor<Body> visitor{module, body};
  module(visitor);
}

}  // namespace burn::optim::detail
