// Groups over rows: a warp or a block passes over its row once for every stage of the group.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "backends/cuda/device.h"
#include "backends/cuda/fused/accuracy.h"
#include "backends/cuda/fused/column_sums.h"
#include "backends/cuda/fused/group_kernel.h"
#include "backends/cuda/fused/print.h"
#include "backends/cuda/fused/row_passes.h"
#include "backends/cuda/fused/row_shape.h"
#include "backends/cuda/fused/walks.h"
#include "backends/cuda/lower/combine.h"

namespace burn::backends::cuda {
namespace {

using codegen::Level;
using codegen::Member;

constexpr int kSideBySide = 2;                // blocks with a row in shared memory
constexpr std::int64_t kOwnShared = 2 << 10;  // bytes of shared memory of a block for other things

class RowPrinter {
 public:
  RowPrinter(Emitter& emit, const GroupPlan& plan)
      : emit_(emit),
        plan_(plan),
        printer_(emit, plan),
        rows_(plan.row_walk()),
        inner_(plan.inner_walk()),
        held_(read_in_several_passes(plan)) {
    for (std::size_t k = 0; k < plan.reads().size(); ++k) {
      const auto& read = plan.reads()[k];
      if (read.kind != GroupOperand::Kind::full) continue;
      const auto& strides = inner_.strides[static_cast<std::size_t>(read.full_index)];
      if (std::ranges::all_of(strides, [](std::int64_t stride) { return stride == 0; })) of_row_.insert(k);
      if (read.counts) held_.erase(k);
    }
    for (const auto k : of_row_) held_.erase(k);
    auto views = plan.full_views();
    int width = vector_width(inner_, views, 8);
    if (plan.group().row_size % width != 0) width = 1;
    for (std::size_t k = 0; width > 1 && k < views.size(); ++k) {  // every row begins aligned
      for (const auto stride : rows_.strides[k]) {
        if (stride % width != 0 && inner_.strides[k].back() != 0) width = 1;
      }
    }
    for (const auto& member : plan.group().members) {
      if (member.level == Level::column) columns_.push_back(&member);
    }
    RowNeeds needs{.held = static_cast<int>(held_.size()), .columns = static_cast<int>(columns_.size())};
    for (const auto k : held_) needs.held_bytes += static_cast<std::int64_t>(ir::size_of(dtype(plan.reads()[k].ref)));
    needs.most_shared = emit.device().shared_bytes() / kSideBySide - kOwnShared;
    shape_ = choose_row_shape(plan.group().row_size, width, needs);
  }

  Status emit() {
    const auto rows = ir::num_elements(plan_.group().domain) / plan_.group().row_size;
    const int rows_per_block = shape_.rows_per_block(),
              resident = shape_.in_shared ? kSideBySide : std::max(1, threads_under_way() / shape_.threads());
    std::int64_t blocks = (rows + rows_per_block - 1) / rows_per_block;
    // With sums of columns a block goes over many rows, and writes its part of the sums once.
    if (!columns_.empty()) blocks = std::min(blocks, std::int64_t{emit_.device().multiprocessors()} * resident);
    declare_parameters();
    const auto parts = declare_parts(blocks * rows_per_block);
    std::string body = preamble();
    for (int stage = 0; stage <= plan_.last_stage(); ++stage) body += row_members(stage) + pass(stage);
    body += row_writes();
    if (!columns_.empty()) body += end_of_rows();
    KernelSource source{
        printer_.functions() +
        fmt::format("extern \"C\" __global__ void __launch_bounds__({}, {}) burn_kernel({}) {{\n{}}}\n}}\n",
                    shape_.threads(), resident, printer_.parameters(), body)};
    emit_.launch(source, {.blocks = blocks, .threads = shape_.threads(), .shared_bytes = shared_bytes()},
                 printer_.take_arguments());
    std::vector<View> sums;
    for (const auto* column : columns_) sums.push_back(write_of(*column).view);
    if (!columns_.empty()) sum_lines(emit_, parts, sums);
    return {};
  }

 private:
  ir::DType dtype(ir::Ref ref) const { return plan_.program().type_of(ref).dtype; }
  ir::Ref value_of(const Member& member) const {
    return ir::Ref::value(static_cast<std::int32_t>(plan_.node(member).first_value));
  }

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
    printer_.parameter("const std::int64_t", "rows", Argument(rows));
    printer_.parameter("const int", "row_size", Argument(static_cast<int>(group.row_size)));
    printer_.parameter(fmt::format("const burn::cuda::Walk<{}>", plan_.full_count() + plan_.row_count()), "outer",
                       walk_argument(rows_));
    if (!is_plain()) {
      printer_.parameter(fmt::format("const burn::cuda::Walk<{}>", plan_.full_count()), "inner", walk_argument(inner_));
    }
  }

  // --- sums of columns ---

  ir::Ref summed(const Member& column) const { return plan_.program().operands_of(plan_.node(column))[0]; }

  ir::DType sum_dtype(const Member& column) const { return ir::compute_dtype(dtype(value_of(column))); }
  const GroupOperand& write_of(const Member& column) const {
    return *std::ranges::find(plan_.writes(), value_of(column), &GroupOperand::ref);
  }

  // A line of memory for every row that is under way at once, for each column sum.
  std::vector<View> declare_parts(std::int64_t lines) {
    std::vector<View> parts;
    for (const auto* column : columns_) {
      parts.push_back(emit_.scratch_value({sum_dtype(*column), {lines, plan_.group().row_size}}));
      printer_.parameter(fmt::format("{}*", compute_type(sum_dtype(*column))),
                         "part_" + printer_.name(value_of(*column)), Argument(parts.back()));
    }
    return parts;
  }

  std::string sums_at_zero() const {
    std::string text;
    for (const auto* column : columns_)
      text += fmt::format("  Pack<{}, {}> column_{}[{}] = {{}};\n", compute_type(sum_dtype(*column)), shape_.width,
                          printer_.name(value_of(*column)), shape_.vectors);
    return text;
  }

  std::string end_of_rows() const {
    std::string text = shape_.lanes > 32 ? "  __syncthreads();\n  }\n" : "  }\n", stores;
    for (const auto* column : columns_) {
      const auto v = printer_.name(value_of(*column));
      stores +=
          fmt::format("*reinterpret_cast<Pack<{0}, {1}>*>(part_{2} + first_row * row_size + c) = column_{2}[i];\n",
                      compute_type(sum_dtype(*column)), shape_.width, v);
    }
    return text + each_vector(stores);
  }

  // --- the kernel, from above ---

  std::string preamble() {
    std::string text = fmt::format("  constexpr int kLanes = {};\n", shape_.lanes);
    text += "  const int lane = threadIdx.x % kLanes;\n";
    text += shape_.lanes == 32 ? "  const std::int64_t first_row = std::int64_t{blockIdx.x} * 4 + threadIdx.x / 32;\n"
                               : "  const std::int64_t first_row = blockIdx.x;\n";
    text += scalar_reads(printer_);
    if (columns_.empty()) {
      text += "  const std::int64_t row = first_row;\n  if (row >= rows) return;\n";
    } else {
      text += sums_at_zero();
      text +=
          fmt::format("  for (std::int64_t row = first_row; row < rows; row += std::int64_t{{gridDim.x}} * {}) {{\n",
                      shape_.rows_per_block());
    }
    text += fmt::format("  const auto base = burn::cuda::offsets_in<{}>(outer, row);\n", rows_.rank());
    for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
      const auto& read = plan_.reads()[k];
      if (read.kind == GroupOperand::Kind::row) {
        text += fmt::format("  const {0} x{1} = to_compute<{2}>(p{1}[base.at[{3}]]);\n", compute_type(dtype(read.ref)),
                            k, storage_type(dtype(read.ref)), plan_.full_count() + read.row_index);
      } else if (of_row_.contains(k) && read.counts) {
        text += "  " + counted_read(printer_, k, fmt::format("i{} + base.at[{}]", k, read.full_index), "0");
      } else if (of_row_.contains(k)) {
        text += fmt::format("  const {} x{} = to_compute<{}>(p{}[base.at[{}]]);\n", compute_type(dtype(read.ref)), k,
                            storage_type(dtype(read.ref)), k, read.full_index);
      }
    }
    if (!columns_.empty()) text += prefetches();
    if (shape_.vectors > 0) text += held_reads();
    if (shape_.in_shared) text += shared_places();
    return text;
  }

  int threads_under_way() const {
    const auto of_operand = static_cast<std::size_t>(shape_.vectors * shape_.width);
    std::size_t bytes = 0;
    for (const auto k : held_) {
      if (is_held(k)) bytes += of_operand * ir::size_of(dtype(plan_.reads()[k].ref));
    }
    for (const auto* column : columns_) bytes += of_operand * ir::size_of(sum_dtype(*column));
    return cuda::threads_under_way(bytes);
  }

  bool is_held(std::size_t k) const { return shape_.vectors > 0 && held_.contains(k); }
  bool is_shared(std::size_t k) const { return shape_.in_shared && held_.contains(k); }

  // Wide elements first, so that all are aligned.
  std::string shared_places() const {
    std::string text = "  extern __shared__ __align__(16) unsigned char burn_shared[];\n  auto* place = burn_shared;\n";
    for (std::size_t size = sizeof(std::int64_t); size > 0; size /= 2) {
      for (const auto k : held_) {
        if (ir::size_of(dtype(plan_.reads()[k].ref)) != size) continue;
        text += fmt::format(
            "  auto* const m{0} = reinterpret_cast<Pack<{1}, {2}>*>(place);\n"
            "  place += (row_size + {2} - 1) / {2} * sizeof(Pack<{1}, {2}>);\n",
            k, storage_type(dtype(plan_.reads()[k].ref)), shape_.width);
      }
    }
    return text;
  }
  int shared_bytes() const {
    if (!shape_.in_shared) return 0;
    std::int64_t bytes = 0;
    for (const auto k : held_) bytes += static_cast<std::int64_t>(ir::size_of(dtype(plan_.reads()[k].ref)));
    const auto vectors = (plan_.group().row_size + shape_.width - 1) / shape_.width;
    return static_cast<int>(bytes * shape_.width * vectors);
  }

  // A block waits for a row's operands and for its sums, one after the other: the next row is on its way meanwhile.
  std::string prefetches() const {
    std::string text;
    for (std::size_t k = 0; is_plain() && k < plan_.reads().size(); ++k) {
      const auto& read = plan_.reads()[k];
      if (read.kind != GroupOperand::Kind::full || read.counts || of_row_.contains(k)) continue;
      const auto& strides = rows_.strides[static_cast<std::size_t>(read.full_index)];
      if (std::ranges::all_of(strides, [](std::int64_t stride) { return stride == 0; })) continue;  // the same again
      text += fmt::format("prefetch(p{} + next.at[{}] + c);\n", k, read.full_index);
    }
    if (text.empty()) return "";
    const auto step = fmt::format("std::int64_t{{gridDim.x}} * {}", shape_.rows_per_block());
    return fmt::format(
               "  if (row + {0} < rows) {{\n  const auto next = burn::cuda::offsets_in<{1}>(outer, row + {0});\n", step,
               rows_.rank()) +
           each_vector(text) + "  }\n";
  }

  std::string held_reads() {
    std::string text, loads;
    for (const auto k : held_) {
      text += fmt::format("  Pack<{}, {}> l{}[{}];\n", storage_type(dtype(plan_.reads()[k].ref)), shape_.width, k,
                          shape_.vectors);
      loads += load(k, fmt::format("l{}[i]", k));
    }
    if (loads.empty()) return "";
    return text + each_vector(loads);
  }

  // The offset of element `c` of the row in a full operand.
  std::string element_offset(int full_index, const std::string& c) const {
    const auto base = fmt::format("base.at[{}]", full_index);
    if (!is_plain())
      return fmt::format("{} + burn::cuda::offsets_in<{}>(inner, {}).at[{}]", base, inner_.rank(), c, full_index);
    return inner_.strides[static_cast<std::size_t>(full_index)][0] == 0 ? base : fmt::format("{} + {}", base, c);
  }

  // The elements of a row lie one after the other, or are the same, in all operands.
  bool is_plain() const {
    return inner_.rank() == 1 &&
           std::ranges::all_of(inner_.strides, [](const auto& of) { return of[0] == 0 || of[0] == 1; });
  }

  std::string load(std::size_t k, const std::string& into) const {
    const auto& read = plan_.reads()[k];
    const auto type = storage_type(dtype(read.ref));
    const auto at = element_offset(read.full_index, "c");
    const bool repeats = inner_.strides[static_cast<std::size_t>(read.full_index)].back() == 0;
    if (shape_.width == 1 || repeats) {
      std::string text;
      for (int j = 0; j < shape_.width; ++j) text += fmt::format("{}.lanes[{}] = p{}[{}];\n", into, j, k, at);
      return text;
    }
    return fmt::format("{} = *reinterpret_cast<const Pack<{}, {}>*>(p{} + {});\n", into, type, shape_.width, k, at);
  }

  std::string each_vector(const std::string& body) const {
    if (shape_.vectors > 0) {
      return fmt::format(
          "  #pragma unroll\n  for (int i = 0; i < {}; ++i) {{\n  const int c = (i * kLanes + lane) * {};\n  if (c < "
          "row_size) {{\n{}  }}\n  }}\n",
          shape_.vectors, shape_.width, body);
    }
    return fmt::format("  #pragma unroll 4\n  for (int c = lane * {0}; c < row_size; c += kLanes * {0}) {{\n{1}  }}\n",
                       shape_.width, body);
  }

  // Values with one number per row that are known before the pass of this stage.
  std::string row_members(int stage) {
    std::string text;
    for (const auto& member : plan_.group().members) {
      if (member.level != Level::row || plan_.stage_of(value_of(member)) != stage) continue;
      const auto& node = plan_.node(member);
      if (std::holds_alternative<ir::Reduce>(node.op)) continue;
      if (!std::holds_alternative<ir::Gather>(node.op)) {
        text += "  " + printer_.statement(member, "row");
      } else if (plan_.read(plan_.program().operands_of(node)[0])) {
        text += direct_gather(member);
      }
    }
    return text;
  }

  std::string checked_index(const Member& member) {
    const auto operands = plan_.program().operands_of(plan_.node(member));
    const auto v = printer_.name(value_of(member));
    const auto report = printer_.parameter("std::int64_t*", "report_" + v,
                                           Argument(emit_.report_index(plan_.group().row_size, member.node)));
    return fmt::format(
        "  const std::int64_t index_{0} = static_cast<std::int64_t>({1});\n"
        "  const bool inside_{0} = burn::cuda::index_is_inside(index_{0}, row_size, {2});\n"
        "  const int place_{0} = inside_{0} ? static_cast<int>(index_{0}) : -1;\n",
        v, printer_.name(operands[1]), report);
  }

  std::string direct_gather(const Member& member) {
    const auto operands = plan_.program().operands_of(plan_.node(member));
    const auto* read = plan_.read(operands[0]);
    const auto v = printer_.name(value_of(member));
    auto text = checked_index(member);
    if (read->counts) {
      auto element =
          counted_read(printer_, static_cast<std::size_t>(read - plan_.reads().data()),
                       fmt::format("i{} + {}", read - plan_.reads().data(),
                                   element_offset(read->full_index, fmt::format("(inside_{0} ? index_{0} : 0)", v))),
                       "0");
      return text + fmt::format("  const {0} {1} = [&] {{ {2} return {3}; }}();\n", compute_type(dtype(operands[0])), v,
                                element, printer_.name(operands[0]));
    }
    if (read->kind != GroupOperand::Kind::full)
      return text +
             fmt::format("  const {} {} = {};\n", compute_type(dtype(operands[0])), v, printer_.name(operands[0]));
    const auto type = storage_type(dtype(operands[0]));
    return text + fmt::format("  const {} {} = to_compute<{}>(inside_{} ? p{}[{}] : {}{{}});\n",
                              compute_type(dtype(operands[0])), v, type, v, read - plan_.reads().data(),
                              element_offset(read->full_index, "index_" + v), type);
  }

  // Reductions whose operands are known, and the results that are.
  std::string pass(int stage) {
    std::string before, combine, after, stores, flush;
    std::vector<ir::Ref> seen;  // as it is, by what combines elements or by who reads the results
    for (const auto& member : plan_.group().members) {
      if (member.level != Level::row || plan_.stage_of(value_of(member)) != stage + 1) continue;
      const auto& node = plan_.node(member);
      const auto operand = plan_.program().operands_of(node)[0];
      const auto v = printer_.name(value_of(member));
      const auto type = compute_type(dtype(operand));
      const auto* reduce = std::get_if<ir::Reduce>(&node.op);
      if (reduce) {
        before += fmt::format("  {0} sum_{1} = {2}::identity<{0}>();\n", type, v, combine_type(reduce->fn));
        combine += fmt::format("sum_{0} = {1}::combine<{2}>(sum_{0}, {3});\n", v, combine_type(reduce->fn), type,
                               printer_.name(operand));
      } else if (std::holds_alternative<ir::Gather>(node.op) && plan_.member(operand)) {
        before += checked_index(member) + fmt::format("  {} sum_{}{{}};\n", type, v);
        combine += fmt::format("if (c + j == place_{0}) sum_{0} = {1};\n", v, printer_.name(operand));
      } else {
        continue;
      }
      seen.push_back(operand);
      const auto value = fmt::format("burn::cuda::reduce_row<kLanes, {}, {}>(sum_{})",
                                     reduce ? combine_type(reduce->fn) : "burn::ir::Sum", sites_++, v);
      after += fmt::format("  const {} {} = rounded<{}>({});\n", type, v, storage_type(dtype(operand)), value);
    }
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
      const auto& write = plan_.writes()[k];
      if (write.kind != GroupOperand::Kind::full || plan_.stage_of(write.ref) != stage) continue;
      seen.push_back(write.ref);
      const auto type = storage_type(dtype(write.ref));
      stores += fmt::format("s{}.lanes[j] = to_storage<{}>({});\n", k, type, printer_.name(write.ref));
      flush += fmt::format("*reinterpret_cast<Pack<{0}, {1}>*>(q{2} + {3}) = s{2};\n", type, shape_.width, k,
                           element_offset(write.full_index, "c"));
    }
    for (const auto* column : columns_) {
      if (plan_.stage_of(value_of(*column)) != stage) continue;
      seen.push_back(summed(*column));
      combine += fmt::format("column_{}[i].lanes[j] += {};\n", printer_.name(value_of(*column)),
                             printer_.name(summed(*column)));
    }
    if (combine.empty() && stores.empty()) return "";
    return before + each_vector(pass_body(stage, seen, combine, stores, flush)) + after;
  }

  std::string pass_body(int stage, std::span<const ir::Ref> seen, const std::string& combine, const std::string& stores,
                        const std::string& flush) {
    const auto needs = needs_of_pass(plan_, stage);
    const auto coarse = coarse_members(plan_, needs.members, seen);
    std::string body, element;
    for (const auto k : needs.reads) {
      if (of_row_.contains(k)) continue;
      if (const auto& read = plan_.reads()[k]; read.counts) {
        const bool steps = inner_.strides[static_cast<std::size_t>(read.full_index)].back() != 0;
        element += counted_read(printer_, k, fmt::format("i{} + {}", k, element_offset(read.full_index, "c")),
                                steps ? "j" : "0");
        continue;
      }
      const auto type = storage_type(dtype(plan_.reads()[k].ref));
      if (is_shared(k) && is_in_place_.contains(k)) {
        body += fmt::format("const auto l{0} = m{0}[c / {1}];\n", k, shape_.width);
      } else if (!is_held(k)) {
        body += fmt::format("Pack<{}, {}> l{};\n", type, shape_.width, k) + load(k, fmt::format("l{}", k));
        if (is_shared(k)) body += fmt::format("m{0}[c / {1}] = l{0};\n", k, shape_.width);
        if (is_shared(k)) is_in_place_.insert(k);
      }
      element += fmt::format("const {0} x{1} = to_compute<{2}>(l{1}{3}.lanes[j]);\n",
                             compute_type(dtype(plan_.reads()[k].ref)), k, type, is_held(k) ? "[i]" : "");
    }
    for (const auto& member : plan_.group().members) {
      if (member.level == Level::full && needs.members.contains(member.node))
        element += printer_.statement(member, "(static_cast<std::uint64_t>(row) * row_size + c + j)",
                                      coarse.contains(member.node));
    }
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
      if (stores.find(fmt::format("s{}.", k)) == std::string::npos) continue;
      body += fmt::format("Pack<{}, {}> s{};\n", storage_type(dtype(plan_.writes()[k].ref)), shape_.width, k);
    }
    return body +
           fmt::format("  #pragma unroll\n  for (int j = 0; j < {}; ++j) {{\n{}  }}\n", shape_.width,
                       element + combine + stores) +
           flush;
  }

  std::string row_writes() {
    std::string text;
    for (std::size_t k = 0; k < plan_.writes().size(); ++k) {
      const auto& write = plan_.writes()[k];
      if (write.kind != GroupOperand::Kind::row) continue;
      text += fmt::format("  q{}[base.at[{}]] = to_storage<{}>({});\n", k, plan_.full_count() + write.row_index,
                          storage_type(dtype(write.ref)), printer_.name(write.ref));
    }
    return text.empty() ? "" : fmt::format("  if (lane == 0) {{\n{}  }}\n", text);
  }

  Emitter& emit_;
  const GroupPlan& plan_;
  GroupPrinter printer_;
  WalkPlan rows_, inner_;
  RowShape shape_;
  // What more than one pass looks at stays in registers, where there is room: positions of reads.
  std::set<std::size_t> held_;
  std::set<std::size_t> of_row_;       // reads with one number for all elements of a row
  std::set<std::size_t> is_in_place_;  // in shared memory by now
  std::vector<const Member*> columns_;
  int sites_ = 0;  // reductions printed so far
};

}  // namespace

Status emit_rows(Emitter& emit, const GroupPlan& plan) {
  if (ir::num_elements(plan.group().domain) == 0) return {};
  return RowPrinter(emit, plan).emit();
}

}  // namespace burn::backends::cuda
