// From an op to what the device does for it: one function per op, each in the file of its family.
#pragma once

#include "backends/cuda/emitter.h"
#include "ir/dispatch.h"
#include "ir/program.h"

namespace burn::backends::cuda {

// A node that is lowered by itself, not as a part of a group.
struct NodeInPlan {
  const ir::Program& program;
  const ir::Node& node;

  ir::Ref operand(int k) const { return program.operands_of(node)[static_cast<std::size_t>(k)]; }
  int operand_count() const { return static_cast<int>(node.operand_count); }
  ir::Ref result(int k = 0) const { return ir::Ref::value(static_cast<std::int32_t>(node.first_value)).result(k); }
};

namespace lowering {

// Call as lowering::lower: a missing one must not compile. Errors: UNIMPLEMENTED, which supports() says too; what the
// libraries say.
#define OP(type) Status lower(Emitter& emit, const ir::type& op, const NodeInPlan& at);
BURN_OPS(OP)
#undef OP

}  // namespace lowering
}  // namespace burn::backends::cuda
