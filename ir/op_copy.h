// Copies only the bytes of the op's own type: the variant's copy copies all of its 376 bytes. The alternative is named
// explicitly, as selecting it from the type compares all pairs of alternatives. Include only from .cc files: the visit
// of all ops adds half a second to the compilation of each.
#pragma once

#include "ir/op.h"

namespace burn::ir {

inline Op copy_of(const Op& op) {
  return std::visit([]<typename Kind>(const Kind& kind) { return Op{std::in_place_type<Kind>, kind}; }, op);
}

// Converts to an Op, so that the copy is constructed in place: Node(KindCopy<Kind>{kind}, ...).
template <typename Kind>
struct KindCopy {
  const Kind& kind;
  operator Op() const { return Op{std::in_place_type<Kind>, kind}; }
};

}  // namespace burn::ir
