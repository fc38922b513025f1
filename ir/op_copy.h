// Copying an op without the room that larger ones would need: the variant's own copy moves all of its 376 bytes.
// The alternative is named, for choosing it compares each with each, in a header that nearly every file includes.
#pragma once

#include "ir/op.h"

namespace burn::ir {

inline Op copy_of(const Op& op) {
  return std::visit([]<typename Kind>(const Kind& kind) { return Op{std::in_place_type<Kind>, kind}; }, op);
}

// Stands for a copy of an op of this kind, made where it is put: Node(KindCopy<Kind>{kind}, ...).
template <typename Kind>
struct KindCopy {
  const Kind& kind;
  operator Op() const { return Op{std::in_place_type<Kind>, kind}; }
};

}  // namespace burn::ir
