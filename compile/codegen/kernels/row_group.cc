// Groups over rows: a thread, or the threads of a block, pass over their row once for every stage of the group.
#include <algorithm>

#include "compile/codegen/kernel/combine.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/group.h"
#include "compile/codegen/kernels/group_values.h"
#include "compile/codegen/row_passes.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

class RowKernel {
 public:
  RowKernel(Emitter& emit, const GroupPlan& plan)
      : emit_(emit),
        plan_(plan),
        rows_(ir::num_elements(plan.group().domain) / plan.group().row_size),
        row_walk_(plan.row_walk()),
        inner_walk_(plan.inner_walk()),
        lanes_(choose_lanes()),
        values_(emit, plan, lanes_ == 1 ? kRowsOfBlock : lanes_, is_narrow()) {}

  Status emit() {
    auto& writer = values_.writer();
    const auto type = values_.index_type();
    const Value block = to(type, writer.block()), thread = to(type, writer.thread());
    row_ = lanes_ == 1 ? block * kRowsOfBlock + thread : block;
    lane_ = lanes_ == 1 ? values_.index(0) : thread;
    row_size_ = values_.number(plan_.group().row_size);
    writer.when(row_ < values_.number(rows_), [&] {
      known_ = values_.scalars();
      base_ = values_.offsets_in(row_walk_, row_);
      read_rows();
      for (int stage = 0; stage <= plan_.last_stage(); ++stage) {
        row_members(stage);
        pass(stage);
      }
      write_rows();
    });
    values_.launch(lanes_ == 1 ? (rows_ + kRowsOfBlock - 1) / kRowsOfBlock : rows_);
    return {};
  }

 private:
  static constexpr int kRowsOfBlock = 64;  // where each thread has a row of its own

  // Threads of a row.
  int choose_lanes() const {
    const auto& facts = emit_.target().facts();
    const auto size = plan_.group().row_size;
    if (facts.has_slow_barriers || size < 16) return 1;
    int lanes = 32;
    while (lanes < 256 && lanes * 4 < size) lanes *= 2;
    return lanes;
  }

  bool is_narrow() const {
    constexpr double kMax = 1073741824.0;  // a folded grid has blocks beyond the end
    if (static_cast<double>(rows_) * static_cast<double>(plan_.group().row_size) >= kMax) return false;
    return row_walk_.is_narrow() && inner_walk_.is_narrow() && ends_in_31_bits();
  }
  // Of the sums of both walks' offsets.
  bool ends_in_31_bits() const {
    for (std::size_t k = 0; k < inner_walk_.strides.size(); ++k) {
      double end = 0;
      for (const auto* walk : {&row_walk_, &inner_walk_}) {
        for (std::size_t d = 0; d < walk->sizes.size(); ++d)
          end += static_cast<double>(walk->sizes[d]) * static_cast<double>(walk->strides[k][d]);
      }
      if (end >= 2147483648.0) return false;
    }
    return true;
  }

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  // One number for all elements of a row.
  bool is_of_row(std::size_t k) const {
    const auto& read = plan_.reads()[k];
    return read.kind == GroupOperand::Kind::full &&
           std::ranges::all_of(inner_walk_.strides[at(read.full_index)],
                               [](std::int64_t stride) { return stride == 0; });
  }

  void read_rows() {
    for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
      const auto& read = plan_.reads()[k];
      if (read.kind == GroupOperand::Kind::row)
        known_.reads[k] = values_.read(k, base_[at(plan_.full_count() + read.row_index)]);
      else if (is_of_row(k))
        known_.reads[k] = values_.read(k, base_[at(read.full_index)]);
    }
  }

  void write_rows() {
    const auto write = [&] {
      for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
        const auto& result = plan_.writes()[k];
        if (result.kind == GroupOperand::Kind::row)
          values_.write(k, base_[at(plan_.full_count() + result.row_index)], known_);
      }
    };
    const bool has_any = std::ranges::any_of(
        plan_.writes(), [](const GroupOperand& result) { return result.kind == GroupOperand::Kind::row; });
    if (!has_any) return;
    if (lanes_ == 1)
      write();
    else
      values_.writer().when(lane_ == 0, write);
  }

  // The values of elements that `needs` has, at element `c` of the row, beside those of the row.
  KnownValues element(const PassNeeds& needs, Value c) {
    auto known = known_;
    const auto inner = values_.offsets_in(inner_walk_, c);
    offsets_.clear();
    for (std::size_t k = 0; k < inner.size(); ++k) offsets_.push_back(base_[k] + inner[k]);
    for (const auto k : needs.reads) {
      if (!is_of_row(k)) known.reads[k] = values_.read(k, offsets_[at(plan_.reads()[k].full_index)]);
    }
    const Value position = row_ * row_size_ + c;
    for (const auto& member : plan_.group().members) {
      if (member.level == Level::full && needs.members.contains(member.node))
        known.members[values_.member_index(member)] = values_.compute(member, position, known);
    }
    return known;
  }

  // One number per row that is made of others.
  void row_members(int stage) {
    for (const auto& member : plan_.group().members) {
      if (member.level != Level::row || plan_.stage_of(plan_.value_of(member)) != stage) continue;
      const auto& node = plan_.node(member);
      if (std::holds_alternative<ir::Reduce>(node.op)) continue;
      if (!std::holds_alternative<ir::Gather>(node.op))
        known_.members[values_.member_index(member)] = values_.compute(member, row_, known_);
      else if (plan_.read(plan_.program().operands_of(node)[0]))
        gather(member);
    }
  }

  // One element of the row, computed where it is not read, once more than in the pass: cheaper than a look at each
  // whether it is the one. An index outside is reported, and gives 0.
  void gather(const Member& member) {
    auto& writer = values_.writer();
    const auto operands = plan_.program().operands_of(plan_.node(member));
    const auto index = kernel::cast(ir::DType::i64, values_.of(operands[1], known_));
    const auto report = values_.address(ir::DType::i64, emit_.report_index(plan_.group().row_size, member.node));
    const auto type = ir::compute_dtype(values_.dtype(operands[0]));
    const auto picked = writer.variable(kernel::cast(type, index - index));
    writer.when(
        index >= 0 && index < plan_.group().row_size,
        [&] {
          const auto known = element(needs_of(plan_, operands[0]), to(values_.index_type(), index));
          picked.set(values_.of(operands[0], known));
        },
        [&] {
          writer.store(report, values_.index(0), index);
          writer.store(report, values_.index(1), index.number(1));
        });
    known_.members[values_.member_index(member)] = picked.get();
  }

  struct Combined {
    const Member* member;
    ir::ReduceFn fn;
    ir::Ref operand;
    Variable sum;
  };

  // Reductions whose operands are known, and the results that are.
  void pass(int stage) {
    auto& writer = values_.writer();
    std::vector<Combined> reductions;
    std::vector<const Member*> gathers;
    for (const auto& member : plan_.group().members) {
      if (member.level != Level::row || plan_.stage_of(plan_.value_of(member)) != stage + 1) continue;
      const auto& node = plan_.node(member);
      const auto operand = plan_.program().operands_of(node)[0];
      if (const auto* reduce = std::get_if<ir::Reduce>(&node.op)) {
        const auto type = ir::compute_dtype(values_.dtype(plan_.value_of(member)));
        reductions.push_back(
            {&member, reduce->fn, operand, writer.variable(kernel::identity(writer, reduce->fn, type))});
      } else if (std::holds_alternative<ir::Gather>(node.op) && plan_.member(operand)) {
        gathers.push_back(&member);
      }
    }
    std::vector<std::size_t> stores;
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
      const auto& write = plan_.writes()[k];
      if (write.kind == GroupOperand::Kind::full && plan_.stage_of(write.ref) == stage) stores.push_back(k);
    }
    if (!reductions.empty() || !stores.empty()) {
      writer.loop(lane_, row_size_, values_.index(lanes_), [&](Value c) {
        const auto known = element(needs_of_pass(plan_, stage), c);
        for (const auto& reduction : reductions) {
          const Value value = kernel::cast(reduction.sum.type, values_.of(reduction.operand, known));
          reduction.sum.set(kernel::combine(reduction.fn, reduction.sum.get(), value));
        }
        for (const auto k : stores) values_.write(k, offsets_[at(plan_.writes()[k].full_index)], known);
      });
    }
    for (const auto& reduction : reductions) {
      const Value whole = lanes_ == 1 ? reduction.sum.get() : over_lanes(reduction);
      known_.members[values_.member_index(*reduction.member)] =
          kernel::rounded(values_.dtype(plan_.value_of(*reduction.member)), whole);
    }
    for (const auto* member : gathers) gather(*member);
  }

  // What all threads of the block have combined.
  Value over_lanes(const Combined& reduction) {
    auto& writer = values_.writer();
    const auto shared = writer.shared(reduction.sum.type, lanes_);
    const Value thread = writer.thread();
    writer.store(shared, thread, reduction.sum.get());
    for (int half = lanes_ / 2; half > 0; half /= 2) {
      writer.barrier();
      writer.when(thread < half, [&] {
        const Value both =
            kernel::combine(reduction.fn, writer.load(shared, thread), writer.load(shared, thread + half));
        writer.store(shared, thread, both);
      });
    }
    writer.barrier();
    return writer.load(shared, writer.index(0));
  }

  Emitter& emit_;
  const GroupPlan& plan_;
  const std::int64_t rows_;
  const WalkPlan row_walk_, inner_walk_;
  const int lanes_;
  GroupValues values_;
  KnownValues known_;  // of the row
  Offsets base_;       // of the row
  Offsets offsets_;    // of the element
  Value row_, lane_, row_size_;
};

}  // namespace

Status emit_rows(Emitter& emit, const GroupPlan& plan) {
  if (ir::num_elements(plan.group().domain) == 0) return {};
  return RowKernel(emit, plan).emit();
}

}  // namespace burn::compile::kernels
