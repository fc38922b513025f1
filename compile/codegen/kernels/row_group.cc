// Groups over rows: a thread, or the threads of a block, pass over their row once for every stage of the group. On GPUs
// a thread has vectors of elements, and keeps in registers what several passes look at.
#include <algorithm>

#include "compile/codegen/kernel/combine.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/group.h"
#include "compile/codegen/kernels/group_values.h"
#include "compile/codegen/kernels/row_elements.h"
#include "compile/codegen/kernels/rows_on_threads.h"
#include "compile/codegen/row_layout.h"
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
        layout_(emit.target().facts(), plan),
        row_walk_(layout_.rows()),
        inner_walk_(layout_.inner()),
        shape_(RowsOnThreads::choose(emit.target().facts(), layout_.shape(), plan.group().row_size)),
        writer_(shape_.lanes * shape_.rows, emit.target().facts().has_functions, emit.target().facts().has_exp2),
        arguments_(writer_, is_narrow() ? ir::DType::i32 : ir::DType::i64),
        values_(writer_, arguments_, plan),
        elements_(plan, layout_, shape_, values_) {}

  Status emit() {
    const Value block = arguments_.block(), thread = arguments_.thread();
    row_ = shape_.rows == 1 ? block : block * shape_.rows + thread / shape_.lanes;
    lane_ = shape_.lanes == 1 ? values_.index(0) : shape_.rows == 1 ? thread : thread % shape_.lanes;
    row_size_ = arguments_.number(plan_.group().row_size);
    writer_.when(row_ < arguments_.number(rows_), [&] {
      known_ = values_.scalars();
      base_ = values_.offsets_in(row_walk_, row_);
      elements_.begin({row_, lane_, row_size_}, base_);
      read_rows();
      elements_.hold();
      for (int stage = 0; stage <= plan_.last_stage(); ++stage) {
        row_members(stage);
        pass(stage);
      }
      write_rows();
    });
    arguments_.launch_blocks(emit_, (rows_ + shape_.rows - 1) / shape_.rows);
    return {};
  }

 private:
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

  void read_rows() {
    for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
      const auto& read = plan_.reads()[k];
      if (read.kind == GroupOperand::Kind::row)
        known_.reads[k] = values_.read(k, base_[at(plan_.full_count() + read.row_index)]);
      else if (elements_.is_of_row(k))
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
    if (shape_.lanes == 1)
      write();
    else
      writer_.when(lane_ == 0, write);
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
    const auto operands = plan_.program().operands_of(plan_.node(member));
    const auto index = kernel::cast(ir::DType::i64, values_.of(operands[1], known_));
    const auto report = arguments_.address(ir::DType::i64, emit_.report_index(plan_.group().row_size, member.node));
    const auto type = ir::compute_dtype(values_.dtype(operands[0]));
    const auto picked = writer_.variable(kernel::cast(type, index - index));
    writer_.when(
        index >= 0 && index < plan_.group().row_size,
        [&] {
          const auto known = elements_.at(needs_of(plan_, operands[0]), to(arguments_.index(), index), 1, -1, known_);
          picked.set(values_.of(operands[0], known[0]));
        },
        [&] {
          writer_.store(report, values_.index(0), index);
          writer_.store(report, values_.index(1), index.number(1));
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
    std::vector<Combined> reductions;
    std::vector<const Member*> gathers;
    for (const auto& member : plan_.group().members) {
      if (member.level != Level::row || plan_.stage_of(plan_.value_of(member)) != stage + 1) continue;
      const auto& node = plan_.node(member);
      const auto operand = plan_.program().operands_of(node)[0];
      if (const auto* reduce = std::get_if<ir::Reduce>(&node.op)) {
        const auto type = ir::compute_dtype(values_.dtype(plan_.value_of(member)));
        reductions.push_back(
            {&member, reduce->fn, operand, writer_.variable(kernel::identity(writer_, reduce->fn, type))});
      } else if (std::holds_alternative<ir::Gather>(node.op) && plan_.member(operand)) {
        gathers.push_back(&member);
      }
    }
    std::vector<std::size_t> stores;
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
      const auto& write = plan_.writes()[k];
      if (write.kind == GroupOperand::Kind::full && plan_.stage_of(write.ref) == stage) stores.push_back(k);
    }
    if (!reductions.empty() || !stores.empty()) each_vector(stage, reductions, stores);
    for (const auto& reduction : reductions) {
      const Value whole = over_lanes(reduction);
      known_.members[values_.member_index(*reduction.member)] =
          kernel::rounded(values_.dtype(plan_.value_of(*reduction.member)), whole);
    }
    for (const auto* member : gathers) gather(*member);
  }

  void each_vector(int stage, const std::vector<Combined>& reductions, const std::vector<std::size_t>& stores) {
    const auto needs = needs_of_pass(plan_, stage);
    const auto vector = [&](Value c, int which) {
      const auto known = elements_.at(needs, c, shape_.width, which, known_);
      const bool is_inside = which < 0 || shape_.is_whole;
      const Value inside = is_inside ? Value{} : (lane_ + which * shape_.lanes) * shape_.width < row_size_;
      for (const auto& one : known) {
        for (const auto& reduction : reductions) {
          const Value value = kernel::cast(reduction.sum.type, values_.of(reduction.operand, one));
          const Value sum = reduction.sum.get(), both = kernel::combine(reduction.fn, sum, value);
          reduction.sum.set(is_inside ? both : select(inside, both, sum));
        }
      }
      const auto store = [&] {
        for (const auto k : stores) values_.write(k, elements_.offsets()[at(plan_.writes()[k].full_index)], known);
      };
      if (is_inside)
        store();
      else if (!stores.empty())
        writer_.when(inside, store);
    };
    if (shape_.vectors == 0) {
      writer_.loop(lane_ * shape_.width, row_size_, values_.index(std::int64_t{shape_.lanes} * shape_.width),
                   [&](Value c) { vector(c, -1); });
    }
    for (int i = 0; i < shape_.vectors; ++i) vector(elements_.begin_of(i), i);
  }

  // What all threads of the row have combined, the same for each: first those of a subgroup, then these.
  Value over_lanes(const Combined& reduction) {
    Value sum = reduction.sum.get();
    const auto& facts = emit_.target().facts();
    const int together = facts.has_shuffles ? std::min(shape_.lanes & -shape_.lanes, facts.subgroup_size) : 1;
    for (int mask = together / 2; mask > 0; mask /= 2)
      sum = kernel::combine(reduction.fn, sum, writer_.shuffle_xor(sum, mask));
    const int subgroups = shape_.lanes / together;
    if (subgroups == 1) return sum;
    const auto shared = writer_.shared(sum.type, subgroups);
    const Value thread = writer_.thread();
    writer_.when(thread % together == 0, [&] { writer_.store(shared, thread / together, sum); });
    writer_.barrier();
    Value all = writer_.load(shared, writer_.index(0));
    for (int k = 1; k < subgroups; ++k)
      all = kernel::combine(reduction.fn, all, writer_.load(shared, writer_.index(k)));
    return all;
  }

  Emitter& emit_;
  const GroupPlan& plan_;
  const std::int64_t rows_;
  const RowLayout layout_;
  const LoopDims &row_walk_, &inner_walk_;
  const RowsOnThreads shape_;
  kernel::Writer writer_;
  Arguments arguments_;
  GroupValues values_;
  RowElements elements_;
  KnownValues known_;  // of the row
  Offsets base_;       // of the row
  Value row_, lane_, row_size_;
};

}  // namespace

Status emit_rows(Emitter& emit, const GroupPlan& plan) {
  if (ir::num_elements(plan.group().domain) == 0) return {};
  return RowKernel(emit, plan).emit();
}

}  // namespace burn::compile::kernels
