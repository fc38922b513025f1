// What the printers of group kernels need to know of a group: its operands, and in which pass over a row each value can
// be computed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compile/codegen/operands.h"

namespace burn::compile {

class GroupPlan {
 public:
  // `computed`: what the group reads and its kernel has computed.
  GroupPlan(Emitter& emit, const ir::Program& program, const Group& group, std::span<const ir::Ref> results,
            std::optional<ir::Ref> computed = std::nullopt);

  const ir::Program& program() const { return program_; }
  const Group& group() const { return group_; }
  const ir::Node& node(const Member& member) const { return program_.nodes[static_cast<std::size_t>(member.node)]; }
  // What the member makes.
  ir::Ref value_of(const Member& member) const {
    return ir::Ref::value(static_cast<std::int32_t>(node(member).first_value));
  }
  const std::vector<GroupOperand>& reads() const { return reads_; }
  const std::vector<GroupOperand>& writes() const { return writes_; }
  // How many values the outer walk has (full operands first, then those per row), and the inner one.
  int full_count() const { return full_count_; }
  int row_count() const { return row_count_; }

  // Walks over the elements of the domain; over its rows; and over the elements of a row.
  LoopDims element_walk() const;
  LoopDims row_walk() const;
  LoopDims inner_walk() const;
  std::vector<View> full_views() const;  // in the order of the walks

  // A row is passed over once for each stage: a value has the stage in which all it is made of is known.
  int stage_of(ir::Ref ref) const;
  int last_stage() const { return last_stage_; }
  // What the group reads from outside under this ref, or null: a member computes it.
  const GroupOperand* read(ir::Ref ref) const;
  const Member* member(ir::Ref ref) const;
  bool is_full(ir::Ref ref) const;  // one per element

 private:
  void add_read(Emitter& emit, ir::Ref ref, Level level);
  int outer_rank() const;
  std::vector<std::vector<std::int64_t>> full_strides(int begin, int end) const;

  const ir::Program& program_;
  const Group& group_;
  std::optional<ir::Ref> computed_;
  std::vector<GroupOperand> reads_, writes_;
  std::vector<int> stages_;  // per member
  int full_count_ = 0, row_count_ = 0, last_stage_ = 0;
};

}  // namespace burn::compile
