#include "backends/cpu/run_memory.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "compile/plan/views.h"

namespace burn::backends::cpu {
namespace {

constexpr std::int32_t kNoBlock = -1;  // a number, which is stored in its Array

// Models an Array: its block of memory, and whether the value is the whole block, row-major from its start.
struct HeldValue {
  std::int32_t block = kNoBlock;
  bool is_whole = false;
};

class MemorySimulation {
 public:
  MemorySimulation(const ir::Program& program, const compile::Plan& plan, std::span<const Stage> stages)
      : program_(program),
        plan_(plan),
        stages_(stages),
        views_(has_views(program, plan) ? compile::find_views(program) : std::vector<compile::ValueView>{}),
        inputs_(program.inputs.size()),
        values_(program.values.size()) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto& input = program.inputs[i];
      const auto bytes = static_cast<std::int64_t>(input.type.num_bytes());
      inputs_[i] = {static_cast<std::int32_t>(blocks_.size()), true};
      // A donated input is owned by the run alone and was counted before it; others always have another owner.
      blocks_.push_back({bytes, input.donated ? 1 : 2});
      if (plan.input_last_use[i] == compile::Plan::kUnused) drop(inputs_[i]);
    }
  }

  std::uint64_t peak() {
    for (std::size_t position = 0; position < stages_.size(); position += stages_[position].stages_in_pass) {
      if (stages_[position].fused) {
        run_groups(position, stages_[position].stages_in_pass);
      } else {
        run_single(position);
      }
    }
    copy_outputs();
    return static_cast<std::uint64_t>(peak_);
  }

 private:
  struct Block {
    std::int64_t bytes = 0;
    int owners = 0;
  };

  // Whether a single-node step may return a view: groups never do, and most programs of formulas have only groups.
  static bool has_views(const ir::Program& program, const compile::Plan& plan) {
    return std::ranges::any_of(plan.steps, [&](const compile::PlanStep& step) {
      return step.group == compile::PlanStep::kSingle &&
             compile::may_be_view(program.nodes[static_cast<std::size_t>(step.node)].op);
    });
  }

  HeldValue& held(ir::Ref ref) { return (ref.is_input() ? inputs_ : values_)[static_cast<std::size_t>(ref.index())]; }
  Block& block(const HeldValue& value) { return blocks_[static_cast<std::size_t>(value.block)]; }
  bool has_block(const HeldValue& value) const { return value.block != kNoBlock; }
  std::int64_t bytes_of(ir::Ref ref) const { return static_cast<std::int64_t>(program_.type_of(ref).num_bytes()); }

  void take(std::int64_t bytes) {
    in_use_ += bytes;
    peak_ = std::max(peak_, in_use_);
  }
  HeldValue fresh(std::int64_t bytes) {
    take(bytes);
    blocks_.push_back({bytes, 1});
    return {static_cast<std::int32_t>(blocks_.size() - 1), true};
  }
  HeldValue copy(const HeldValue& value) {
    if (has_block(value)) ++block(value).owners;
    return value;
  }
  void drop(HeldValue& value) {
    if (has_block(value) && --block(value).owners == 0) in_use_ -= block(value).bytes;
    value = {};
  }

  // As Execution::take_operands().
  std::vector<HeldValue> take_operands(std::size_t position) {
    const auto& step = plan_.steps[position];
    std::vector<HeldValue> operands;
    operands.reserve(step.reads.size());
    for (const auto ref : step.reads) operands.push_back(copy(held(ref)));
    for (const auto ref : step.reads) {
      if (plan_.last_use(ref) == static_cast<std::int32_t>(position)) drop(held(ref));
    }
    return operands;
  }

  // As may_overwrite() of array.h.
  bool may_overwrite(std::span<const HeldValue> operands, std::size_t which, std::int64_t bytes) {
    const auto& target = operands[which];
    if (!has_block(target) || !target.is_whole || block(target).bytes != bytes) return false;
    int views = 0;
    for (const auto& operand : operands) {
      if (operand.block != target.block) continue;
      if (!operand.is_whole) return false;
      ++views;
    }
    return block(target).owners == views;
  }

  // As FusedKernel::bind(), for all groups that run in one pass.
  void run_groups(std::size_t first, std::size_t count) {
    std::vector<std::vector<HeldValue>> operands;
    std::vector<std::vector<HeldValue>> results(count);
    operands.reserve(count);
    std::int64_t totals = 0;
    for (std::size_t g = 0; g < count; ++g) {
      const auto& step = plan_.steps[first + g];
      const auto& code = stages_[first + g].fused->code();  // NOLINT: only fused stages run together
      const auto& reads = operands.emplace_back(take_operands(first + g));
      for (std::size_t r = 0; r < step.results.size(); ++r) {
        const auto over = code.overwrites[r];
        const auto bytes = bytes_of(step.results[r]);
        if (over >= 0 && may_overwrite({&reads[static_cast<std::size_t>(over)], 1}, 0, bytes)) {
          results[g].push_back(copy(reads[static_cast<std::size_t>(over)]));
        } else {
          results[g].push_back(fresh(bytes));
        }
      }
      const auto own = TileRunner::total_bytes(code);
      totals += own;
      take(own);
    }
    in_use_ -= totals;
    for (std::size_t g = 0; g < count; ++g) {
      for (std::size_t r = 0; r < results[g].size(); ++r) held(plan_.steps[first + g].results[r]) = results[g][r];
      for (auto& operand : operands[g]) drop(operand);
    }
  }

  void run_single(std::size_t position) {
    const auto& step = plan_.steps[position];
    const auto& node = program_.nodes[static_cast<std::size_t>(step.node)];
    auto operands = take_operands(position);
    std::vector<HeldValue> results;
    results.reserve(step.results.size());
    for (const auto ref : step.results) results.push_back(result_of(node, ref, operands));
    take(work_space(node));
    in_use_ -= work_space(node);
    for (auto& operand : operands) drop(operand);
    for (std::size_t r = 0; r < results.size(); ++r) {
      if (plan_.last_use(step.results[r]) == compile::Plan::kUnused) {
        drop(results[r]);
      } else {
        held(step.results[r]) = results[r];
      }
    }
  }

  HeldValue result_of(const ir::Node& node, ir::Ref ref, std::span<const HeldValue> operands) {
    if (std::holds_alternative<ir::Constant>(node.op) || std::holds_alternative<ir::Scalar>(node.op)) return {};
    const auto bytes = bytes_of(ref);
    if (is_view(ref)) {
      auto view = copy(operands[0]);
      view.is_whole = has_block(view) && is_whole(ref) && block(view).bytes == bytes;
      return view;
    }
    const bool is_pointwise = std::holds_alternative<ir::Pointwise>(node.op);
    const bool writes_over_first =
        std::holds_alternative<ir::Cast>(node.op) || std::holds_alternative<ir::Scatter>(node.op);
    const auto candidates = is_pointwise ? operands.size() : writes_over_first ? std::size_t{1} : std::size_t{0};
    for (std::size_t k = 0; k < candidates; ++k) {
      if (may_overwrite(operands, k, bytes)) return copy(operands[k]);
    }
    return fresh(bytes);
  }

  const compile::ValueView& view(ir::Ref ref) const { return views_[static_cast<std::size_t>(ref.index())]; }
  bool is_view(ir::Ref ref) const { return !views_.empty() && !(view(ref).base == ref); }
  bool is_whole(ir::Ref ref) const {
    return views_.empty() ||
           (view(ref).offset == 0 && compile::is_contiguous(program_.type_of(ref).shape, view(ref).strides));
  }

  // A library may need operands and result of a convolution in layouts of its own.
  std::int64_t work_space(const ir::Node& node) const {
    const bool is_convolution = std::holds_alternative<ir::Conv>(node.op) ||
                                std::holds_alternative<ir::ConvInputGrad>(node.op) ||
                                std::holds_alternative<ir::ConvWeightGrad>(node.op);
    if (!is_convolution) return 0;
    std::int64_t bytes = 0;
    for (const auto ref : program_.operands_of(node)) bytes += bytes_of(ref);
    for (const auto& made : program_.results_of(node)) bytes += static_cast<std::int64_t>(made.type.num_bytes());
    return bytes;
  }

  // As Execution::outputs(): a value that is not a block of its own is copied into one.
  void copy_outputs() {
    for (const auto ref : program_.outputs) {
      const auto& value = held(ref);
      const bool is_large = has_block(value) && block(value).bytes / 2 > bytes_of(ref);
      if (!has_block(value) || is_large || (!ref.is_input() && !is_whole(ref))) (void)fresh(bytes_of(ref));
    }
  }

  const ir::Program& program_;
  const compile::Plan& plan_;
  const std::span<const Stage> stages_;
  const std::vector<compile::ValueView> views_;  // empty: each value is its own base
  std::vector<HeldValue> inputs_, values_;
  std::vector<Block> blocks_;
  std::int64_t in_use_ = 0, peak_ = 0;  // beyond what is in use when the run begins
};

}  // namespace

std::uint64_t planned_bytes(const ir::Program& program, const compile::Plan& plan, std::span<const Stage> stages) {
  return MemorySimulation(program, plan, stages).peak();
}

}  // namespace burn::backends::cpu
