// Rewrites a program into a smaller one that does the same, before anything is planned.
#pragma once

#include <optional>

#include "ir/program.h"

namespace burn::compile {

// Without nodes that neither an output nor an effect depends on, without Place, whose readers read its operand (but for
// an output whose operand is one, too, or an input), and, with `merge_equal`, without nodes that compute what an
// earlier one has computed: the same op on the same operands (a random op names its part of the stream, so this
// holds for it too). Nodes with an effect stay, in their order; those that compute something again (Node::recompute)
// are merged with none, neither their original nor each other: a second copy in memory that was asked for stays one.
// Inputs, outputs, slots and results stay as they are; the hash is that of the original.
ir::Program simplify(const ir::Program& program, bool merge_equal);
// The same; nothing where that is the program as it is.
std::optional<ir::Program> simplified(const ir::Program& program, bool merge_equal);

// For passes that write a program anew: its inputs, slots and hash, no nodes and no outputs, but room for as many.
ir::Program without_nodes(const ir::Program& program);

}  // namespace burn::compile
