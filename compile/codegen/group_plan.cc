#include "compile/codegen/group_plan.h"

#include <algorithm>

namespace burn::compile {

GroupPlan::GroupPlan(Emitter& emit, const ir::Program& program, const Group& group, std::span<const ir::Ref> results,
                     std::optional<ir::Ref> computed)
    : program_(program), group_(group), computed_(computed) {
  stages_.reserve(group.members.size());
  for (const auto& member : group.members) {
    const auto& op = node(member).op;
    const auto operands = program.operands_of(node(member));
    int stage = 0;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      const bool is_reduced =
          std::holds_alternative<ir::Reduce>(op) || (std::holds_alternative<ir::Gather>(op) && k == 0);
      if (this->member(operands[k])) {
        stage = std::max(stage, stage_of(operands[k]) + (is_reduced ? 1 : 0));
      } else {
        if (is_reduced && std::holds_alternative<ir::Reduce>(op)) stage = std::max(stage, 1);
        add_read(emit, operands[k], is_reduced ? Level::full : member.level);
      }
    }
    if (member.level == Level::column) stage = stage_of(operands[0]);  // summed where it is computed
    stages_.push_back(stage);
    last_stage_ = std::max(last_stage_, stage);
  }
  for (const auto ref : results) {
    GroupOperand write;
    write.ref = ref;
    const auto place = group.has_rows() ? std::nullopt : emit.place(ref);
    if (place) emit.set_in_place(ref);
    write.view = place ? *place : emit.result(ref);
    switch (member(ref)->level) {
      case Level::full:
        write.kind = GroupOperand::Kind::full;
        write.full_index = full_count_++;
        break;
      case Level::row:
        write.kind = GroupOperand::Kind::row;
        write.row_index = row_count_++;
        break;
      case Level::column:
        write.kind = GroupOperand::Kind::column;
        break;
      case Level::all:  // FuseLimits::sums_all is off here
        break;
    }
    writes_.push_back(write);
  }
}

void GroupPlan::add_read(Emitter& emit, ir::Ref ref, Level level) {
  if (this->read(ref)) return;
  GroupOperand read;
  read.ref = ref;
  if (ref == computed_) {
    read.kind = GroupOperand::Kind::computed;
  } else if (const auto* constant = emit.constant(ref)) {
    read.kind = GroupOperand::Kind::constant;
    read.constant = *constant;
  } else if (const auto counted = level == Level::row ? std::nullopt : emit.counted(ref)) {
    read.view = *counted;
    read.counts = true;
    read.full_index = full_count_++;
  } else {
    read.view = emit.read(ref);
    if (std::ranges::all_of(read.view.strides, [](std::int64_t stride) { return stride == 0; }) ||
        read.view.num_elements() == 1) {
      read.kind = GroupOperand::Kind::scalar;
    } else if (level == Level::row) {
      read.kind = GroupOperand::Kind::row;
      read.row_index = row_count_++;
    } else {
      read.kind = GroupOperand::Kind::full;
      read.full_index = full_count_++;
    }
  }
  reads_.push_back(read);
}

int GroupPlan::stage_of(ir::Ref ref) const {
  const auto* made = member(ref);
  return made ? stages_.at(static_cast<std::size_t>(made - group_.members.data())) : 0;
}

const GroupOperand* GroupPlan::read(ir::Ref ref) const {
  const auto found = std::ranges::find(reads_, ref, &GroupOperand::ref);
  return found == reads_.end() ? nullptr : &*found;
}

const Member* GroupPlan::member(ir::Ref ref) const {
  if (ref.is_input()) return nullptr;
  const auto node = program_.node_of(ref);
  const auto found = std::ranges::lower_bound(group_.members, node, {}, &Member::node);  // in the program's order
  return found == group_.members.end() || found->node != node ? nullptr : &*found;
}

bool GroupPlan::is_full(ir::Ref ref) const {
  if (const auto* made = member(ref)) return made->level == Level::full;
  return read(ref)->kind == GroupOperand::Kind::full;
}

// Dims before those of a row.
int GroupPlan::outer_rank() const {
  int rank = group_.domain.rank();
  for (std::int64_t inside = 1; rank > 0 && inside < group_.row_size; --rank) inside *= group_.domain[rank - 1];
  return rank;
}

std::vector<std::vector<std::int64_t>> GroupPlan::full_strides(int begin, int end) const {
  std::vector<std::vector<std::int64_t>> strides(static_cast<std::size_t>(full_count_));
  const auto put = [&](const GroupOperand& operand) {
    if (operand.kind != GroupOperand::Kind::full) return;
    auto& of = strides[static_cast<std::size_t>(operand.full_index)];
    for (int d = begin; d < end; ++d) of.push_back(operand.view.strides[d]);
  };
  std::ranges::for_each(reads_, put);
  std::ranges::for_each(writes_, put);
  return strides;
}

LoopDims GroupPlan::element_walk() const {
  return merge_dims(group_.domain.span(), full_strides(0, group_.domain.rank()));
}

LoopDims GroupPlan::inner_walk() const {
  const int begin = outer_rank();
  return merge_dims(group_.domain.span().subspan(static_cast<std::size_t>(begin)),
                    full_strides(begin, group_.domain.rank()));
}

LoopDims GroupPlan::row_walk() const {
  const int rank = outer_rank();
  auto strides = full_strides(0, rank);
  strides.resize(static_cast<std::size_t>(full_count_) + static_cast<std::size_t>(row_count_));
  const auto put = [&](const GroupOperand& operand) {
    if (operand.kind != GroupOperand::Kind::row) return;
    auto& of = strides[static_cast<std::size_t>(full_count_) + static_cast<std::size_t>(operand.row_index)];
    for (int d = 0; d < rank; ++d) of.push_back(operand.view.strides[d]);
  };
  std::ranges::for_each(reads_, put);
  std::ranges::for_each(writes_, put);
  return merge_dims(group_.domain.span().first(static_cast<std::size_t>(rank)), strides);
}

std::vector<View> GroupPlan::full_views() const {
  std::vector<View> views(static_cast<std::size_t>(full_count_));
  const auto put = [&](const GroupOperand& operand) {
    if (operand.kind != GroupOperand::Kind::full) return;
    auto& view = views[static_cast<std::size_t>(operand.full_index)];
    view = operand.view;
    if (operand.counts) view.address = {}, view.dtype = ir::DType::u8;  // any vector of it will do
  };
  std::ranges::for_each(reads_, put);
  std::ranges::for_each(writes_, put);
  return views;
}

}  // namespace burn::compile
