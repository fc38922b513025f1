// A walk over the tensors of a module that needs no names. Private to train/.
#pragma once

#include <string_view>

#include "nn/module.h"

namespace burn::optim::detail {

template <typename Body>
class UnnamedVisitor : public nn::detail::SlotVisitor {
 public:
  explicit UnnamedVisitor(Body& body) : body_(body) {}
  void enter(std::string_view, std::string_view) override {}
  void leave() override {}
  void slot(std::string_view, Slot& slot) override {
    if (slot.value.has_value()) body_(slot);
  }

 private:
  Body& body_;
};

// Calls body(slot) for every tensor of the module.
template <typename Body>
void visit_slots(const nn::detail::Walk& module, Body body) {
  UnnamedVisitor<Body> visitor{body};
  module(visitor);
}

}  // namespace burn::optim::detail
