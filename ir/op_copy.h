// Copying an op without the room that larger ones would need: the variant's own copy moves all of its 376 bytes.
#pragma once

#include "ir/op.h"

namespace burn::ir {

inline Op copy_of(const Op& op) {
  return std::visit([](const auto& kind) { return Op{kind}; }, op);
}

// Stands for a copy of an op of this kind, made where it is put: Node(KindCopy<Kind>{kind}, ...).
template <typename Kind>
struct KindCopy {
  const Kind& kind;
  operator Op() const { return Op{kind}; }
};

}  // namespace burn::ir
