#include "compile/lower/program_emitter.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/settings.h"
#include "compile/codegen/known_call.h"
#include "compile/codegen/target.h"
#include "compile/lower/batch_launches.h"
#include "compile/lower/layouts.h"
#include "compile/lower/output_buffers.h"
#include "compile/lower/step_uses.h"
#include "compile/lower/virtual_iota.h"
#include "compile/plan/buckets.h"
#include "compile/plan/guards.h"
#include "compile/plan/views.h"
#include "ir/node_errors.h"
#include "ir/random_box.h"

namespace burn::compile {
namespace {

class ProgramEmitter final : public Emitter {
 public:
  ProgramEmitter(Target& target, const ir::Program& program, const Plan& plan)
      : target_(target),
        program_(program),
        plan_(plan),
        views_(find_views(program, layouts_of(program))),
        places_(places_inside(program, views_)),
        block_of_(program.values.size(), kNone),
        output_of_(program.values.size(), kNone),
        iotas_(find_counted(program, plan, views_)),
        coverage_(find_coverage(program)),
        collective_ends_(find_collective_ends(program, plan)),
        last_use_of_base_(find_last_uses_of_bases()),
        timeline_(program.inputs.size(), program.values.size(), program.outputs.size()) {}

  Result<Lowered> run() {
    lowered_.outputs = assign_outputs(program_, views_, output_of_);
    for (const auto& coverage : coverage_) lowered_.commits.push_back({coverage.inputs});
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      begin_step(static_cast<std::int32_t>(s));
      lowered_.steps.push_back({plan_.steps[s].reads, plan_.steps[s].results});
      BURN_RETURN_IF_ERROR(lower_step(plan_.steps[s]));
    }
    fill_outputs();
    reuse_inputs(program_, timeline_, output_of_, lowered_.outputs);
    for (const auto& [block, end] : held_until_) {
      auto& life = lifetimes_[static_cast<std::size_t>(block)];
      life.last = std::max(life.last, end);
    }
    merge_launches(lowered_, lifetimes_);
    BURN_RETURN_IF_ERROR(check_block_sizes());
    const auto page = target_.facts().max_allocation;
    lowered_.arena =
        is_off(Setting::graph_branches) ? plan_arena(lifetimes_, page) : plan_arena(lifetimes_, kApart, page);
    for (const auto& block : lifetimes_) lowered_.block_bytes.push_back(block.bytes);
    lowered_.output_of = std::move(output_of_);
    return std::move(lowered_);
  }

  // --- Emitter ---
  Target& target() override { return target_; }
  const ir::TensorType& type_of(ir::Ref ref) const override { return program_.type_of(ref); }

  const ir::Constant* constant(ir::Ref ref) override {
    const auto base = ref.is_input() ? ref : view_of(ref).base;
    return base.is_input() ? nullptr : std::get_if<ir::Constant>(&program_.maker_of(base).op);
  }

  std::optional<View> counted(ir::Ref ref) override {
    if (ref.is_input()) return std::nullopt;
    const auto& view = view_of(ref);
    if (view.base.is_input() || !iotas_.counted[static_cast<std::size_t>(view.base.index())]) return std::nullopt;
    const auto& type = program_.type_of(ref);
    return View{{.offset = view.offset}, type.dtype, type.shape, view.strides};
  }
  View read(ir::Ref ref) override {
    const auto& type = program_.type_of(ref);
    if (ref.is_input()) return input(ref, {.base = ref, .strides = ir::contiguous_strides(type.shape)}, type);
    const auto& view = view_of(ref);
    if (view.base.is_input()) return input(view.base, view, type);
    View result{storage(view.base), type.dtype, type.shape, view.strides};
    result.address.offset += view.offset * static_cast<std::int64_t>(ir::size_of(type.dtype));
    return result;
  }
  View result(ir::Ref value) override {
    const auto& type = program_.type_of(value);
    timeline_.made[static_cast<std::size_t>(value.index())] = step_;
    return {uses_.to_write(storage(value)), type.dtype, type.shape, view_of(value).strides};
  }
  std::optional<View> place(ir::Ref value) override {
    const auto found = places_.find(value.index());
    if (found == places_.end() || found->second.lies_there) return std::nullopt;
    const auto& type = program_.type_of(value);
    Address address = storage(found->second.whole);
    address.offset += found->second.offset * static_cast<std::int64_t>(ir::size_of(type.dtype));
    return View{uses_.to_write(address), type.dtype, type.shape, found->second.strides};
  }
  void set_in_place(ir::Ref value) override { in_place_values_.insert(value.index()); }
  bool is_in_place(ir::Ref ref) override {
    if (ref.is_input() || view_of(ref).base.is_input()) return false;
    const auto found = places_.find(view_of(ref).base.index());
    return found != places_.end() && &program_.maker_of(found->second.whole) == &node(node_) &&
           (found->second.lies_there || in_place_values_.contains(found->first));
  }

  bool lie_where(ir::Ref operand, ir::Ref result) override {
    if (operand.is_input()) return false;
    const auto &from = view_of(operand), &to = view_of(result);
    if (from.base.is_input() || to.base != result || from.offset != 0) return false;
    const auto &type = program_.type_of(operand), &made = program_.type_of(result);
    const auto base = static_cast<std::size_t>(from.base.index());
    const auto reads = [&](ir::Ref ref) { return !ref.is_input() && view_of(ref).base == from.base; };
    const bool is_last = last_use_of_base_[base] <= step_ &&
                         std::ranges::count_if(plan_.steps[static_cast<std::size_t>(step_)].reads, reads) == 1;
    const bool is_whole = is_contiguous(type.shape, from.strides) && is_contiguous(made.shape, to.strides) &&
                          type.num_bytes() == made.num_bytes() &&
                          program_.type_of(from.base).num_bytes() == type.num_bytes();
    const bool is_own = block_of_[base] != kNone && output_of_[base] == kNone && output_of(result) == kNone &&
                        !in_place_values_.contains(from.base.index()) && !places_.contains(result.index());
    if (!is_last || !is_whole || !is_own) return false;
    block_of_[static_cast<std::size_t>(result.index())] = block_of_[base];
    return true;
  }

  Address scratch(std::size_t bytes) override { return uses_.to_write({Address::Base::block, new_block(bytes), 0}); }

  void launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) override {
    if (grid.blocks == 0 || grid.blocks_y == 0) return;
    lowered_.commands.push_back({Launch(number_of(source), grid, arguments), step_, uses_.of(arguments)});
  }
  void launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks, std::vector<Argument> arguments,
              std::vector<Address> written) override {
    if (blocks == 0) return;
    const auto [known, is_new] = number_of_kernel_.try_emplace(kernel, 0);
    if (is_new) known->second = number_of(kernel->alone());
    lowered_.commands.push_back({Launch(known->second, {.blocks = blocks}, arguments), step_, uses_.of(arguments)});
    std::get<Launch>(lowered_.commands.back().what).mergeable = std::make_shared<const MergeableLaunch>(
        MergeableLaunch{std::move(kernel), std::move(arguments), std::move(written), is_part()});
  }
  void call(LibraryCall call) override {
    const auto* known = call.target<KnownCall>();
    auto uses = known ? uses_.of(known->used) : uses_.of_all();
    lowered_.commands.push_back({std::move(call), step_, std::move(uses)});
  }
  void fill_zero(const Address& where, std::size_t bytes) override {
    if (bytes > 0) lowered_.commands.push_back({Fill{where, bytes}, step_, {{where, true}}});
  }

  Address report_index(std::int64_t size, std::int32_t node) override {
    return add_check(node < 0 ? node_ : node, [size](std::int64_t index) { return ir::index_outside(index, size); });
  }
  Address report(std::function<Status(std::int64_t)> explain) override { return add_check(node_, std::move(explain)); }

  void allow_in_place(const View& operand, ir::Ref result) override {
    if (operand.address.base == Address::Base::input && operand.address.offset == 0)
      timeline_.in_place.emplace_back(operand.address.index, result.index());
  }

  bool allows_tf32() const override { return plan_.tf32; }

 private:
  static constexpr std::int32_t kNone = -1;
  // What is independent may run at the same time if it is given bytes of its own. Small arenas stay in a GPU's cache as
  // they are, so that little would be gained by using the same bytes again. A product beside the next one in a
  // network's way back is two or three steps away from it.
  static constexpr Apart kApart{.most = std::uint64_t{16} << 20, .steps = 4, .extra = std::uint64_t{64} << 20};

  void begin_step(std::int32_t step) {
    step_ = step;
    uses_.begin_step();
  }

  // Whether the step puts values side by side, each by a launch of its own.
  bool is_part() const {
    const auto at = static_cast<std::size_t>(step_);
    return at < plan_.steps.size() && plan_.steps[at].group == PlanStep::kSingle &&
           plan_.steps[at].product == PlanStep::kNone && std::holds_alternative<ir::Concat>(node(node_).op);
  }

  // Of the program's sources.
  std::size_t number_of(const KernelSource& source) {
    const auto [found, is_new] = source_of_.try_emplace(source.text, lowered_.sources.size());
    if (is_new) lowered_.sources.push_back(source);
    return found->second;
  }

  Address add_check(std::int32_t node, std::function<Status(std::int64_t)> explain) {
    const auto check = static_cast<std::int64_t>(lowered_.checks.size());
    lowered_.checks.push_back({node, std::move(explain)});
    return uses_.to_read({Address::Base::failures, 0, check * 16});
  }

  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  const ValueView& view_of(ir::Ref value) const { return views_[static_cast<std::size_t>(value.index())]; }
  std::int32_t& output_of(ir::Ref value) { return output_of_[static_cast<std::size_t>(value.index())]; }

  View input(ir::Ref ref, const ValueView& view, const ir::TensorType& type) {
    timeline_.last_read[static_cast<std::size_t>(ref.index())] = step_;
    const auto offset = view.offset * static_cast<std::int64_t>(ir::size_of(type.dtype));
    return {uses_.to_read({Address::Base::input, ref.index(), offset}), type.dtype, type.shape, view.strides};
  }

  std::int32_t new_block(std::size_t bytes) {
    lifetimes_.push_back({bytes, step_, step_});
    node_of_block_.push_back(node_);
    return static_cast<std::int32_t>(lifetimes_.size()) - 1;
  }

  // Where a value that is no view lies. It lives from its first mention to its last.
  Address storage(ir::Ref value) {
    if (const auto* scalar = std::get_if<ir::Scalar>(&program_.maker_of(value).op))
      return {Address::Base::bindings, 0, 16 + 8 * scalar->slot};
    if (const auto word = bound_commits_.find(value.index()); word != bound_commits_.end()) return word->second;
    if (const auto output = output_of(value); output != kNone) return uses_.to_read({Address::Base::output, output, 0});
    if (const auto place = places_.find(value.index()); place != places_.end() && place->second.lies_there) {
      const auto whole = storage(place->second.whole);
      const auto size = static_cast<std::int64_t>(ir::size_of(program_.type_of(value).dtype));
      return {whole.base, whole.index, whole.offset + size * place->second.offset};
    }
    auto& block = block_of_[static_cast<std::size_t>(value.index())];
    if (block == kNone) {
      block = new_block(program_.type_of(value).num_bytes());
      if (const auto* made = constant(value)) fill_constant(*made, block);
    }
    lifetimes_[static_cast<std::size_t>(block)].last = step_;
    return uses_.to_read({Address::Base::block, block, 0});
  }

  // A number in memory, for what reads no constants.
  void fill_constant(const ir::Constant& constant, std::int32_t block) {
    target_.fill_constant(*this, constant, uses_.to_write({Address::Base::block, block, 0}));
  }

  // True if the inputs that it covers are there, as a word of the bindings says, and the checks have found nothing.
  // Where there is no check, the word is the value.
  void lower_commit(const ir::Node& commit) {
    const auto number = static_cast<std::size_t>(
        std::ranges::find(coverage_, static_cast<std::int32_t>(node_), &Coverage::commit) - coverage_.begin());
    const auto value = ir::Ref::value(static_cast<std::int32_t>(commit.first_value));
    Address before{Address::Base::bindings, 0, 16 + 8 * (program_.scalar_count + static_cast<std::int64_t>(number))};
    std::vector<Address> reports;
    for (std::size_t c = 0; c < lowered_.checks.size(); ++c) {
      if (coverage_[number].nodes[static_cast<std::size_t>(lowered_.checks[c].node)])
        reports.push_back(uses_.to_read({Address::Base::failures, 0, 16 * static_cast<std::int64_t>(c)}));
    }
    if (reports.empty() && output_of(value) == kNone) {
      bound_commits_.emplace(value.index(), before);
      return;
    }
    target_.lower_commit(*this, before, reports, result(value).address);
  }

  // Per value: the last step that reads it or a view of it, if it is no view itself.
  std::vector<std::int32_t> find_last_uses_of_bases() const {
    std::vector<std::int32_t> last(program_.values.size(), Plan::kUnused);
    for (std::size_t v = 0; v < last.size(); ++v) {
      if (views_[v].base.is_input()) continue;
      auto& of_base = last[static_cast<std::size_t>(views_[v].base.index())];
      of_base = std::max(of_base, plan_.value_last_use[v]);
    }
    for (const auto& [part, place] : places_) {  // parts before what they are in
      auto& of_whole = last[static_cast<std::size_t>(place.whole.index())];
      if (place.lies_there) of_whole = std::max(of_whole, last[static_cast<std::size_t>(part)]);
    }
    return last;
  }

  // A collective goes on beside later steps: what it uses is not given to these.
  void hold_memory_of_collective() {
    const auto end = collective_ends_[static_cast<std::size_t>(step_)];
    for (const auto& use : uses_.of_all()) {
      if (use.where.base == Address::Base::block) held_until_.emplace_back(use.where.index, end);
    }
  }

  Status lower_bucket(const PlanStep& step) {
    std::vector<NodeInPlan> nodes;
    nodes.reserve(step.bucket.size());
    for (const auto n : step.bucket) nodes.push_back({program_, node(n)});
    return at_node_if_error(target_.lower_together(*this, nodes));
  }

  // What is not in its output's buffer yet is copied there.
  void fill_outputs() {
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      const auto ref = program_.outputs[k];
      const auto base = view_of(ref).base;
      if (lowered_.outputs[k].shares_input != kNone) continue;
      if (!base.is_input() && output_of(base) == static_cast<std::int32_t>(k)) continue;
      const auto& type = program_.type_of(ref);
      begin_step(step_ + 1);
      lowered_.steps.push_back({{ref}, {}, static_cast<std::int32_t>(k)});
      timeline_.copied[k] = step_;
      copy(read(ref), {uses_.to_write({Address::Base::output, static_cast<std::int32_t>(k), 0}), type.dtype, type.shape,
                       ir::contiguous_strides(type.shape)});
    }
  }

  // A device that allocates no more than so many bytes at once has no place for a larger value.
  Status check_block_sizes() const {
    const auto most = target_.facts().max_allocation;
    for (std::size_t b = 0; most > 0 && b < lifetimes_.size(); ++b) {
      if (lifetimes_[b].bytes <= most) continue;
      const auto value = std::ranges::find(block_of_, static_cast<std::int32_t>(b));
      const auto& maker = value == block_of_.end()
                              ? node(node_of_block_[b])
                              : program_.maker_of(ir::Ref::value(static_cast<std::int32_t>(value - block_of_.begin())));
      return ir::at_node(resource_exhausted(fmt::format("out of memory: {} bytes are wanted at once, {} are the most "
                                                        "that the device allocates",
                                                        lifetimes_[b].bytes, most)),
                         maker);
    }
    return {};
  }

  Status lower_step(const PlanStep& step) {
    if (step.product != PlanStep::kNone) {
      const auto& product = plan_.products[static_cast<std::size_t>(step.product)];
      node_ = product.product;
      return at_node_if_error(target_.lower_product(*this, program_, product));
    }
    if (step.group != PlanStep::kSingle) {
      const auto& group = plan_.groups[static_cast<std::size_t>(step.group)];
      node_ = group.members[0].node;
      return at_node_if_error(target_.lower_group(*this, program_, group, step.results));
    }
    node_ = step.node;
    const auto& here = node(step.node);
    if (is_number(program_, step.results[0]) || view_of(step.results[0]).base != step.results[0]) return {};
    if (is_commit(here)) {
      lower_commit(here);
      return {};
    }
    const auto made = static_cast<std::size_t>(step.results[0].index());
    if (iotas_.counted[made] && !iotas_.stored[made]) return {};
    if (ir::is_collective(here.op)) {
      BURN_RETURN_IF_ERROR(step.bucket.empty() ? at_node_if_error(target_.lower(*this, {program_, here}))
                                               : lower_bucket(step));
      hold_memory_of_collective();
      return {};
    }
    if (is_elementwise(here)) {
      Group group;
      group.domain = program_.type_of(here).shape;
      group.members = {{step.node, Level::full}};
      return at_node_if_error(target_.lower_group(*this, program_, group, step.results));
    }
    return at_node_if_error(target_.lower(*this, {program_, here}));
  }

  static bool is_elementwise(const ir::Node& node) {
    if (const auto* random = std::get_if<ir::Random>(&node.op)) return ir::first_position(*random).has_value();
    return std::holds_alternative<ir::Pointwise>(node.op) || std::holds_alternative<ir::Cast>(node.op);
  }

  Status at_node_if_error(const Status& status) const {
    return status.ok() ? status : ir::at_node(status, node(node_));
  }

  Target& target_;
  const ir::Program& program_;
  const Plan& plan_;
  const std::vector<ValueView> views_;
  const std::map<std::int32_t, PlaceInside> places_;
  std::set<std::int32_t> in_place_values_;  // written at their place
  Lowered lowered_;
  std::vector<Lifetime> lifetimes_;          // of blocks
  std::vector<std::int32_t> node_of_block_;  // that was lowered when it was made
  std::vector<std::int32_t> block_of_;       // per value
  std::vector<std::int32_t> output_of_;      // per value: the output that it is computed in
  const CountedIotas iotas_;
  const std::vector<Coverage> coverage_;             // of the Commits
  const std::vector<std::int32_t> collective_ends_;  // per step of the plan
  const std::vector<std::int32_t> last_use_of_base_;
  std::vector<std::pair<std::int32_t, std::int32_t>> held_until_;  // blocks, and the step until which they are
  std::map<std::int32_t, Address> bound_commits_;                  // those that are words of the bindings, by value
  std::unordered_map<std::string, std::size_t> source_of_;
  std::unordered_map<std::shared_ptr<const BlockKernel>, std::size_t> number_of_kernel_;
  Timeline timeline_;
  StepUses uses_;  // of the step that is being lowered
  std::int32_t step_ = -1, node_ = 0;
};

}  // namespace

Result<Lowered> lower_program(Target& target, const ir::Program& program, const Plan& plan) {
  return ProgramEmitter(target, program, plan).run();
}

}  // namespace burn::compile
