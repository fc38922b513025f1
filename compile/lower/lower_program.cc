#include "compile/lower/lower_program.h"

#include <algorithm>
#include <utility>

#include "base/settings.h"
#include "compile/codegen/target.h"
#include "compile/lower/batch_launches.h"
#include "compile/lower/output_buffers.h"
#include "compile/lower/step_emitter.h"
#include "compile/plan/buckets.h"
#include "compile/plan/guards.h"
#include "ir/node_errors.h"
#include "ir/random_box.h"

namespace burn::compile {
namespace {

class ProgramLowering {
 public:
  ProgramLowering(Target& target, const ir::Program& program, const Plan& plan)
      : target_(target),
        program_(program),
        plan_(plan),
        emit_(target, program, plan, lowered_),
        coverage_(find_coverage(program)),
        collective_ends_(find_collective_ends(program, plan)) {}

  Result<Lowered> run() {
    auto& values = emit_.values();
    lowered_.outputs = values.assign_outputs();
    for (const auto& coverage : coverage_) lowered_.commits.push_back({coverage.inputs});
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      emit_.begin_step(static_cast<std::int32_t>(s));
      lowered_.steps.push_back({plan_.steps[s].reads, plan_.steps[s].results});
      BURN_RETURN_IF_ERROR(lower_step(plan_.steps[s]));
    }
    fill_outputs();
    reuse_inputs(program_, emit_.timeline(), values.outputs(), lowered_.outputs);
    auto blocks = values.take_lifetimes();
    merge_launches(lowered_, blocks);
    const auto page = target_.facts().max_allocation;
    BURN_RETURN_IF_ERROR(values.check_sizes(blocks, page));
    lowered_.arena =
        is_off(Setting::graph_branches) ? plan_arena(blocks, page) : plan_arena(blocks, kReuseLimits, page);
    for (const auto& block : blocks) lowered_.block_bytes.push_back(block.bytes);
    lowered_.output_of = values.outputs();
    return std::move(lowered_);
  }

 private:
  // What is independent may run at the same time if it is given bytes of its own. Small arenas stay in a GPU's cache as
  // they are, so that little would be gained by using the same bytes again. A product beside the next one in a
  // network's way back is two or three steps away from it.
  static constexpr ReuseLimits kReuseLimits{
      .most = std::uint64_t{16} << 20, .steps = 4, .extra = std::uint64_t{64} << 20};

  Status lower_step(const PlanStep& step) {
    if (step.product != PlanStep::kNone) {
      const auto& product = plan_.products[static_cast<std::size_t>(step.product)];
      begin_node(product.product);
      return at_node_if_error(target_.lower_product(emit_, program_, plan_, product, step.results));
    }
    if (step.group != PlanStep::kSingle) {
      const auto& group = plan_.groups[static_cast<std::size_t>(step.group)];
      begin_node(group.members[0].node);
      return at_node_if_error(target_.lower_group(emit_, program_, group, step.results));
    }
    begin_node(step.node);
    const auto& here = node(step.node);
    const auto made = step.results[0];
    if (is_number(program_, made) || emit_.values().view_of(made).base != made) return {};
    if (is_commit(here)) {
      lower_commit(here);
      return {};
    }
    const auto v = static_cast<std::size_t>(made.index());
    if (emit_.iotas().counted[v] && !emit_.iotas().stored[v]) return {};
    if (ir::is_collective(here.op)) return lower_collective(step);
    if (is_elementwise(here)) {
      Group group;
      group.domain = program_.type_of(here).shape;
      group.members = {{step.node, Level::full}};
      return at_node_if_error(target_.lower_group(emit_, program_, group, step.results));
    }
    return at_node_if_error(target_.lower(emit_, {program_, here}));
  }

  static bool is_elementwise(const ir::Node& node) {
    if (const auto* random = std::get_if<ir::Random>(&node.op)) return ir::first_position(*random).has_value();
    return std::holds_alternative<ir::Pointwise>(node.op) || std::holds_alternative<ir::Cast>(node.op);
  }

  // A collective goes on beside later steps: what it uses is not given to these.
  Status lower_collective(const PlanStep& step) {
    BURN_RETURN_IF_ERROR(step.bucket.empty() ? at_node_if_error(target_.lower(emit_, {program_, node(step.node)}))
                                             : lower_bucket(step));
    emit_.values().hold_blocks_until(collective_ends_[static_cast<std::size_t>(emit_.step())]);
    return {};
  }

  Status lower_bucket(const PlanStep& step) {
    std::vector<NodeInPlan> nodes;
    nodes.reserve(step.bucket.size());
    for (const auto n : step.bucket) nodes.push_back({program_, node(n)});
    return at_node_if_error(target_.lower_together(emit_, nodes));
  }

  // True if the inputs that it covers are there, as a word of the bindings says, and the checks have found nothing.
  // Where there is no check, the word is the value.
  void lower_commit(const ir::Node& commit) {
    const auto number =
        static_cast<std::size_t>(std::ranges::find(coverage_, node_, &Coverage::commit) - coverage_.begin());
    const auto value = ir::Ref::value(static_cast<std::int32_t>(commit.first_value));
    Address before{Address::Base::bindings, 0, 16 + 8 * (program_.scalar_count + static_cast<std::int64_t>(number))};
    std::vector<Address> reports;
    for (std::size_t c = 0; c < lowered_.checks.size(); ++c) {
      if (coverage_[number].nodes[static_cast<std::size_t>(lowered_.checks[c].node)])
        reports.push_back(emit_.to_read({Address::Base::failures, 0, 16 * static_cast<std::int64_t>(c)}));
    }
    if (reports.empty() && emit_.values().output_of(value) < 0)
      emit_.values().bind_commit(value, before);
    else
      target_.lower_commit(emit_, before, reports, emit_.result(value).address);
  }

  // What is not in its output's buffer yet is copied there.
  void fill_outputs() {
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      const auto ref = program_.outputs[k];
      const auto output = static_cast<std::int32_t>(k);
      if (lowered_.outputs[k].shares_input >= 0) continue;
      const auto base = emit_.values().view_of(ref).base;
      if (!base.is_input() && emit_.values().output_of(base) == output) continue;
      const auto& type = program_.type_of(ref);
      emit_.begin_step(emit_.step() + 1);
      lowered_.steps.push_back({{ref}, {}, output});
      emit_.timeline().copied[k] = emit_.step();
      emit_.copy(emit_.read(ref), {emit_.to_write({Address::Base::output, output, 0}), type.dtype, type.shape,
                                   ir::contiguous_strides(type.shape)});
    }
  }

  void begin_node(std::int32_t node) {
    node_ = node;
    emit_.begin_node(node);
  }
  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  Status at_node_if_error(const Status& status) const {
    return status.ok() ? status : ir::at_node(status, node(node_));
  }

  Target& target_;
  const ir::Program& program_;
  const Plan& plan_;
  Lowered lowered_;
  StepEmitter emit_;
  const std::vector<Coverage> coverage_;             // of the Commits
  const std::vector<std::int32_t> collective_ends_;  // per step of the plan
  std::int32_t node_ = 0;                            // that is lowered, or the first of its group
};

}  // namespace

Result<Lowered> lower_program(Target& target, const ir::Program& program, const Plan& plan) {
  return ProgramLowering(target, program, plan).run();
}

}  // namespace burn::compile
