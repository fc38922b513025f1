// Copying an op without the room that larger ones would need: the variant's own copy moves all of its 376 bytes.
#pragma once

#include "ir/op.h"

namespace burn::ir {

// Stands for a copy of `op`, made where it is put: Node(OpCopy{op}, ...).
struct OpCopy {
  const Op& op;
  operator Op() const {
    return std::visit([](const auto& kind) { return Op{kind}; }, op);
  }
};

inline void assign(Op& to, const Op& from) {
  std::visit([&](const auto& kind) { to = kind; }, from);
}

}  // namespace burn::ir
