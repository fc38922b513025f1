// Groups over rows: a warp or a block passes over its row once for every stage of the group.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "compile/codegen/accuracy.h"
#include "compile/codegen/dialects/cuda_cpp.h"
#include "compile/codegen/group_kernel.h"
#include "compile/codegen/print.h"
#include "compile/codegen/row_columns.h"
#include "compile/codegen/row_gathers.h"
#include "compile/codegen/row_layout.h"
#include "compile/codegen/row_passes.h"
#include "compile/codegen/walks.h"

namespace burn::compile {
namespace {

class RowPrinter {
 public:
  RowPrinter(Emitter& emit, const GroupPlan& plan)
      : emit_(emit),
        plan_(plan),
        printer_(plan),
        layout_(emit.target().facts(), plan),
        columns_(plan, layout_),
        gathers_(emit, printer_, layout_) {}

  Status emit() {
    const auto rows = ir::num_elements(plan_.group().domain) / plan_.group().row_size;
    const int rows_per_block = shape().rows_per_block(), resident = layout_.resident_blocks(columns_.bytes_kept());
    std::int64_t blocks = (rows + rows_per_block - 1) / rows_per_block;
    // With sums of columns a block goes over many rows, and writes its part of the sums once.
    if (!columns_.empty()) blocks = std::min(blocks, std::int64_t{emit_.target().facts().multiprocessors} * resident);
    declare_parameters();
    columns_.declare_parts(emit_, printer_, blocks * rows_per_block);
    std::string body = preamble();
    for (int stage = 0; stage <= plan_.last_stage(); ++stage) body += row_members(stage) + pass(stage);
    body += row_writes();
    if (!columns_.empty()) body += end_of_rows() + columns_.stores(printer_);
    KernelSource source{printer_.functions() +
                        cuda_cpp::group_kernel(shape().threads(), resident, printer_.parameters(), body)};
    emit_.launch(source, {.blocks = blocks, .threads = shape().threads(), .shared_bytes = layout_.shared_bytes()},
                 printer_.take_arguments());
    if (!columns_.empty()) columns_.sum_parts(emit_);
    return {};
  }

 private:
  ir::DType dtype(ir::Ref ref) const { return plan_.program().type_of(ref).dtype; }
  const RowShape& shape() const { return layout_.shape(); }

  void declare_parameters() {
    for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
      const auto& read = plan_.reads()[k];
      if (read.kind != GroupOperand::Kind::full && read.kind != GroupOperand::Kind::row) continue;
      if (read.counts) {
        printer_.parameter("const std::int64_t", fmt::format("i{}", k), Argument(read.view.address.offset));
        continue;
      }
      printer_.parameter(fmt::format("const {}*", storage_type(dtype(read.ref))), fmt::format("p{}", k),
                         Argument(read.view));
    }
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
      const auto& write = plan_.writes()[k];
      if (write.kind == GroupOperand::Kind::column) continue;
      printer_.parameter(fmt::format("{}*", storage_type(dtype(write.ref))), fmt::format("q{}", k),
                         Argument(write.view));
    }
    const auto& group = plan_.group();
    const auto rows = ir::num_elements(group.domain) / group.row_size;
    printer_.parameter("const std::int64_t", "row_count", Argument(rows));
    printer_.parameter("const int", "row_size", Argument(static_cast<int>(group.row_size)));
    printer_.parameter("const " + cuda_cpp::walk_type(plan_.full_count() + plan_.row_count()), "outer",
                       walk_argument(layout_.rows()));
    if (!layout_.is_plain()) {
      printer_.parameter("const " + cuda_cpp::walk_type(plan_.full_count()), "inner", walk_argument(layout_.inner()));
    }
  }

  std::string preamble() {
    std::string text = fmt::format("  constexpr int kLanes = {};\n", shape().lanes);
    text += fmt::format("  const int lane = {} % kLanes;\n", cuda_cpp::kThread);
    text += fmt::format("  using Row = {};\n  const Row rows = static_cast<Row>(row_count);\n",
                        cuda_cpp::row_type(layout_.rows().is_narrow()));
    text += shape().lanes == 32
                ? fmt::format("  const Row first_row = Row{{{}}} * 4 + {} / 32;\n", cuda_cpp::kBlock, cuda_cpp::kThread)
                : fmt::format("  const Row first_row = {};\n", cuda_cpp::kBlock);
    text += scalar_reads(printer_);
    if (columns_.empty()) {
      text += "  const Row row = first_row;\n  if (row >= rows) return;\n";
    } else {
      text += columns_.at_zero(printer_);
      text += fmt::format("  for (Row row = first_row; row < rows; row += Row{{{}}} * {}) {{\n", cuda_cpp::kBlocks,
                          shape().rows_per_block());
    }
    text += fmt::format("  const auto base = {};\n", offsets_in(layout_.rows(), "outer", "row"));
    for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
      const auto& read = plan_.reads()[k];
      if (read.kind == GroupOperand::Kind::row) {
        text +=
            "  " + stored_read(printer_, k, fmt::format("p{}[base.at[{}]]", k, plan_.full_count() + read.row_index));
        text += printer_.divisor(read.ref);
      } else if (layout_.is_of_row(k) && read.counts) {
        text += "  " + counted_read(printer_, k, fmt::format("i{} + base.at[{}]", k, read.full_index), "0");
      } else if (layout_.is_of_row(k)) {
        text += "  " + stored_read(printer_, k, fmt::format("p{}[base.at[{}]]", k, read.full_index));
        text += printer_.divisor(read.ref, true);
      }
    }
    if (!columns_.empty()) text += layout_.prefetches();
    return text + layout_.held_reads() + layout_.shared_places();
  }

  // A site's numbers must have been read before the next row's are written: where there are several sites, a thread
  // that comes to the next row has waited at another one since. Without any no memory is shared.
  std::string end_of_rows() const {
    return (shape().lanes > 32 && sites_ == 1 ? cuda_cpp::kBarrier : std::string()) + "  }\n";
  }

  // Values with one number per row that are known before the pass of this stage.
  std::string row_members(int stage) {
    std::string text;
    for (const auto& member : plan_.group().members) {
      if (member.level != Level::row || plan_.stage_of(plan_.value_of(member)) != stage) continue;
      const auto& node = plan_.node(member);
      if (std::holds_alternative<ir::Reduce>(node.op)) continue;
      if (!std::holds_alternative<ir::Gather>(node.op)) {
        text += "  " + printer_.statement(member, "row") + printer_.divisor(plan_.value_of(member));
      } else if (plan_.read(plan_.program().operands_of(node)[0])) {
        text += gathers_.from_memory(member);
      }
    }
    return text;
  }

  // Reductions whose operands are known, and the results that are.
  std::string pass(int stage) {
    std::string before, combine, after, stores, flush;
    std::vector<ir::Ref> seen;  // as it is, by what combines elements or by a reader of the results
    for (const auto& member : plan_.group().members) {
      if (member.level != Level::row || plan_.stage_of(plan_.value_of(member)) != stage + 1) continue;
      const auto& node = plan_.node(member);
      const auto operand = plan_.program().operands_of(node)[0];
      const auto v = printer_.name(plan_.value_of(member));
      const auto type =
          compute_type(dtype(plan_.value_of(member)));  // of integers, wider than the operand's or the same
      const auto* reduce = std::get_if<ir::Reduce>(&node.op);
      if (reduce) {
        before += fmt::format("  {} sum_{} = {};\n", type, v, cuda_cpp::identity(reduce->fn, type));
        combine +=
            fmt::format("sum_{} = {};\n", v, cuda_cpp::combine(reduce->fn, type, "sum_" + v, printer_.name(operand)));
      } else {
        if (std::holds_alternative<ir::Gather>(node.op) && plan_.member(operand))
          after += gathers_.computed_again(member);
        continue;
      }
      seen.push_back(exact_value_for(plan_, *reduce, operand));
      const auto value = cuda_cpp::reduce_row(reduce->fn, sites_++, "sum_" + v);
      after += fmt::format("  const {} {} = {};\n", type, v,
                           cuda_cpp::rounded(storage_type(dtype(plan_.value_of(member))), value)) +
               printer_.divisor(plan_.value_of(member));
    }
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
      const auto& write = plan_.writes()[k];
      if (write.kind != GroupOperand::Kind::full || plan_.stage_of(write.ref) != stage) continue;
      seen.push_back(write.ref);
      const auto type = storage_type(dtype(write.ref));
      stores += fmt::format("s{}.lanes[j] = {};\n", k, cuda_cpp::to_storage(type, printer_.name(write.ref)));
      flush += cuda_cpp::store_pack(type, shape().width, fmt::format("q{}", k),
                                    layout_.element_offset(write.full_index, "c"), fmt::format("s{}", k));
    }
    combine += columns_.additions(printer_, stage, seen);
    if (combine.empty() && stores.empty()) return after;
    return before + layout_.each_vector(pass_body(stage, seen, combine, stores, flush)) + after;
  }

  std::string pass_body(int stage, std::span<const ir::Ref> seen, const std::string& combine, const std::string& stores,
                        const std::string& flush) {
    const auto needs = needs_of_pass(plan_, stage);
    const auto coarse = coarse_members(plan_, needs.members, seen);
    std::string body, element;
    for (const auto k : needs.reads) {
      if (layout_.is_of_row(k)) continue;
      if (const auto& read = plan_.reads()[k]; read.counts) {
        const bool steps = layout_.inner().strides[static_cast<std::size_t>(read.full_index)].back() != 0;
        element += counted_read(printer_, k, fmt::format("i{} + {}", k, layout_.element_offset(read.full_index, "c")),
                                steps ? "j" : "0");
        continue;
      }
      const auto type = storage_type(dtype(plan_.reads()[k].ref));
      if (layout_.is_shared(k) && is_in_place_.contains(k)) {
        body += fmt::format("const auto l{0} = m{0}[c / {1}];\n", k, shape().width);
      } else if (!layout_.is_held(k)) {
        body += fmt::format("{} l{};\n", cuda_cpp::pack_type(type, shape().width), k) +
                layout_.load(k, fmt::format("l{}", k));
        if (layout_.is_shared(k)) body += fmt::format("m{0}[c / {1}] = l{0};\n", k, shape().width);
        if (layout_.is_shared(k)) is_in_place_.insert(k);
      }
      element += stored_read(printer_, k, fmt::format("l{}{}.lanes[j]", k, layout_.is_held(k) ? "[i]" : ""));
    }
    element +=
        element_statements(printer_, needs.members, "(static_cast<std::uint64_t>(row) * row_size + c + j)", coarse);
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
      if (stores.find(fmt::format("s{}.", k)) == std::string::npos) continue;
      body +=
          fmt::format("{} s{};\n", cuda_cpp::pack_type(storage_type(dtype(plan_.writes()[k].ref)), shape().width), k);
    }
    return body + cuda_cpp::kUnroll +
           fmt::format("  for (int j = 0; j < {}; ++j) {{\n{}  }}\n", shape().width, element + combine + stores) +
           flush;
  }

  std::string row_writes() {
    std::string text;
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
      const auto& write = plan_.writes()[k];
      if (write.kind != GroupOperand::Kind::row) continue;
      text += fmt::format("  q{}[base.at[{}]] = {};\n", k, plan_.full_count() + write.row_index,
                          cuda_cpp::to_storage(storage_type(dtype(write.ref)), printer_.name(write.ref)));
    }
    return text.empty() ? "" : fmt::format("  if (lane == 0) {{\n{}  }}\n", text);
  }

  Emitter& emit_;
  const GroupPlan& plan_;
  GroupPrinter printer_;
  RowLayout layout_;
  RowColumns columns_;
  RowGathers gathers_;
  std::set<std::size_t> is_in_place_;  // in shared memory by now
  int sites_ = 0;                      // reductions printed so far
};

}  // namespace

Status emit_rows(Emitter& emit, const GroupPlan& plan) {
  if (ir::num_elements(plan.group().domain) == 0) return {};
  return RowPrinter(emit, plan).emit();
}

}  // namespace burn::compile
