// From an op to kernels: one function for each op that has some, in the file of its family.
#pragma once

#include "compile/codegen/emitter.h"
#include "compile/codegen/kernel/writer.h"
#include "compile/codegen/kernels/launch.h"
#include "compile/codegen/target.h"
#include "ir/ops.h"

namespace burn::backends::vulkan {

using compile::Address;
using compile::Argument;
using compile::Emitter;
using compile::Grid;
using compile::NodeInPlan;
using compile::View;

// The ops that have kernels. Groups, constants, scalars, commits and views are lowered elsewhere.
#define BURN_VULKAN_OPS(OP) \
  OP(Iota)                  \
  OP(Random)                \
  OP(Reshape)               \
  OP(SliceAssign)           \
  OP(Concat)

namespace lowering {

// Errors: UNIMPLEMENTED, which supports_op() says too.
#define OP(type) Status lower(Emitter& emit, const ir::type& op, const NodeInPlan& at);
BURN_VULKAN_OPS(OP)
#undef OP

}  // namespace lowering

// Copies between views of one shape and dtype.
void emit_copy(Emitter& emit, const View& from, const View& to);

}  // namespace burn::backends::vulkan
