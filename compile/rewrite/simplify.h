// Rewrites a program into a smaller one with the same results and effects, before it is planned.
#pragma once

#include <optional>

#include "ir/program.h"

namespace burn::compile {

// Removes nodes that neither an output nor an effect depends on. Removes Place, so that its readers read its operand
// (unless the Place is an output and its operand is an output, too, or an input). With `merge_equal`, removes nodes
// that repeat an earlier one: the same op on the same operands (a random op names its part of the stream, so this holds
// for it too). Nodes with an effect are kept, in their order. Nodes that compute something again (Node::recompute) are
// not merged with their original or with each other, because the second copy was asked for. Inputs, outputs, slots and
// results are unchanged; the hash is that of the original.
ir::Program simplify(const ir::Program& program, bool merge_equal);
// The same; std::nullopt if nothing changes.
std::optional<ir::Program> simplified(const ir::Program& program, bool merge_equal);

// For passes that rebuild a program: a copy with its inputs, slots and hash and without nodes and outputs, with
// capacity reserved for as many.
ir::Program without_nodes(const ir::Program& program);

}  // namespace burn::compile
