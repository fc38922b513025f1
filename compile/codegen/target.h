// What a device brings to the compiler: its facts, the kernels of groups that were printed for it, and how it lowers
// the ops that are no groups.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compile/codegen/emitter.h"
#include "compile/codegen/kernel/device_facts.h"
#include "compile/plan/plan.h"
#include "ir/program.h"

namespace burn::compile {

class GroupMemo;
struct Alternative;  // alternatives.h
struct Group;        // fusion/group.h

// A node that is lowered by itself, not as a part of a group.
struct NodeInPlan {
  const ir::Program& program;
  const ir::Node& node;

  ir::Ref operand(int k) const { return program.operands_of(node)[static_cast<std::size_t>(k)]; }
  int operand_count() const { return static_cast<int>(node.operand_count); }
  ir::Ref result(int k = 0) const { return ir::Ref::value(static_cast<std::int32_t>(node.first_value)).result(k); }
};

// One for each device, or for each program that is lowered. Every function emits commands and kernels through `emit`,
// whose target() it is.
class Target {
 public:
  virtual ~Target() = default;

  virtual const DeviceFacts& facts() const = 0;
  virtual GroupMemo& groups() = 0;

  // A group whose `results` others use; a single function or cast is a group of one. Errors: as lower()'s.
  virtual Status lower_group(Emitter& emit, const ir::Program& program, const Group& group,
                             std::span<const ir::Ref> results) = 0;
  // A single node that is no such group. Errors: UNIMPLEMENTED, which Backend::supports() says too; what libraries of
  // the device report.
  virtual Status lower(Emitter& emit, const NodeInPlan& at) = 0;
  // Collectives of a bucket (PlanStep::bucket), which are performed as one.
  virtual Status lower_together(Emitter& emit, std::span<const NodeInPlan> nodes) {
    for (const auto& at : nodes) BURN_RETURN_IF_ERROR(lower(emit, at));
    return {};
  }
  // A product of the plan, and what stands beside it. `results`: those of its step.
  virtual Status lower_product(Emitter& emit, const ir::Program& program, const Plan& plan,
                               const ProductWithEpilogue& product, std::span<const ir::Ref> results) = 0;
  // Makes the bool at `to`: whether the one at `before` is true and none of the reports, as Emitter::report() gives
  // them, is marked.
  virtual void lower_commit(Emitter& emit, const Address& before, std::span<const Address> reports,
                            const Address& to) = 0;
  // Writes one number into memory.
  virtual void fill_constant(Emitter& emit, const ir::Constant& constant, const Address& to) = 0;
  // Of one shape and dtype.
  virtual void copy(Emitter& emit, const View& from, const View& to) = 0;
  // Which of two or more alternatives takes the least time on the device: timed once for each key, on operands of these
  // shapes, and remembered. 0 where nothing is timed.
  virtual std::size_t fastest(const std::string& /*key*/, std::span<const View> /*operands*/,
                              std::span<const View> /*results*/, std::span<const Alternative> /*alternatives*/) {
    return 0;
  }
};

}  // namespace burn::compile
