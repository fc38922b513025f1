#include "backends/cuda/program_emitter.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "backends/cuda/fused/group_kernel.h"
#include "backends/cuda/known_call.h"
#include "backends/cuda/lower/lower.h"
#include "backends/cuda/lower/product.h"
#include "backends/cuda/merge.h"
#include "backends/cuda/places.h"
#include "backends/failures.h"
#include "backends/plan/views.h"
#include "base/settings.h"
#include "ir/random_box.h"

namespace burn::backends::cuda {
namespace {

class ProgramEmitter final : public Emitter {
 public:
  ProgramEmitter(Device& device, const ir::Program& program, const Plan& plan)
      : device_(device),
        program_(program),
        plan_(plan),
        views_(find_views(program, layouts_of(program))),
        places_(places_inside(program, views_)),
        block_of_(program.values.size(), kNone),
        output_of_(program.values.size(), kNone),
        last_read_(program.inputs.size(), kNone),
        made_at_(program.values.size(), kNone) {}

  Result<Lowered> run() {
    assign_outputs();
    find_counted();
    for (std::size_t s = 0; s < plan_.steps.size(); ++s) {
      begin_step(static_cast<std::int32_t>(s));
      lowered_.steps.push_back({plan_.steps[s].reads, plan_.steps[s].results});
      BURN_RETURN_IF_ERROR(lower_step(plan_.steps[s]));
    }
    fill_outputs();
    reuse_inputs();
    merge_launches(lowered_, lifetimes_);
    lowered_.arena = is_off(Setting::graph_branches) ? plan_arena(lifetimes_) : plan_arena(lifetimes_, kApart);
    for (const auto& block : lifetimes_) lowered_.block_bytes.push_back(block.bytes);
    lowered_.output_of = std::move(output_of_);
    return std::move(lowered_);
  }

  // --- Emitter ---

  Device& device() override { return device_; }
  const ir::TensorType& type_of(ir::Ref ref) const override { return program_.type_of(ref); }

  const ir::Constant* constant(ir::Ref ref) override {
    const auto base = ref.is_input() ? ref : view_of(ref).base;
    return base.is_input() ? nullptr : std::get_if<ir::Constant>(&program_.maker_of(base).op);
  }

  std::optional<View> counted(ir::Ref ref) override {
    if (ref.is_input()) return std::nullopt;
    const auto& view = view_of(ref);
    if (view.base.is_input() || !is_counted_[static_cast<std::size_t>(view.base.index())]) return std::nullopt;
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
    made_at_[static_cast<std::size_t>(value.index())] = step_;
    return {to_write(storage(value)), type.dtype, type.shape, view_of(value).strides};
  }

  std::optional<View> place(ir::Ref value) override {
    const auto found = places_.find(value.index());
    if (found == places_.end()) return std::nullopt;
    const auto& type = program_.type_of(value);
    Address address = storage(found->second.whole);
    address.offset += found->second.offset * static_cast<std::int64_t>(ir::size_of(type.dtype));
    return View{to_write(address), type.dtype, type.shape, found->second.strides};
  }
  void set_in_place(ir::Ref value) override { in_place_values_.insert(value.index()); }
  bool is_in_place(ir::Ref ref) override {
    return !ref.is_input() && in_place_values_.contains(view_of(ref).base.index());
  }

  Address scratch(std::size_t bytes) override { return to_write({Address::Base::block, new_block(bytes), 0}); }

  void launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) override {
    if (grid.blocks == 0 || grid.blocks_y == 0) return;
    lowered_.commands.push_back({Launch(number_of(source), grid, arguments), step_, uses_of(arguments)});
  }
  void launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks, std::vector<Argument> arguments,
              std::vector<Address> written) override {
    if (blocks == 0) return;
    const auto [known, is_new] = number_of_kernel_.try_emplace(kernel, 0);
    if (is_new) known->second = number_of(kernel->alone());
    lowered_.commands.push_back({Launch(known->second, {.blocks = blocks}, arguments), step_, uses_of(arguments)});
    std::get<Launch>(lowered_.commands.back().what).mergeable = std::make_shared<const MergeableLaunch>(
        MergeableLaunch{std::move(kernel), std::move(arguments), std::move(written)});
  }
  void call(LibraryCall call) override {
    const auto* known = call.target<KnownCall>();
    auto uses = uses_of(known ? known->used : of_step_);
    lowered_.commands.push_back({std::move(call), step_, std::move(uses)});
  }
  void fill_zero(const Address& where, std::size_t bytes) override {
    if (bytes > 0) lowered_.commands.push_back({Fill{where, bytes}, step_, {{where, true}}});
  }

  Address report_index(std::int64_t size, std::int32_t node) override {
    return add_check(node < 0 ? node_ : node, [size](std::int64_t index) { return index_outside(index, size); });
  }
  Address report(std::function<Status(std::int64_t)> explain) override { return add_check(node_, std::move(explain)); }

  void allow_in_place(const View& operand, ir::Ref result) override {
    if (operand.address.base == Address::Base::input && operand.address.offset == 0)
      in_place_.emplace_back(operand.address.index, result.index());
  }

  bool allows_tf32() const override { return plan_.tf32; }

 private:
  static constexpr std::int32_t kNone = -1;
  // What is independent may run at the same time if it is given bytes of its own. Small arenas stay in a GPU's cache as
  // they are, so that little would be gained by using the same bytes again. A product beside the next one in a
  // network's way back is two or three steps away from it.
  static constexpr Apart kApart{.most = std::uint64_t{16} << 20, .steps = 4, .extra = std::uint64_t{64} << 20};

  // --- what commands use ---

  void begin_step(std::int32_t step) {
    step_ = step;
    of_step_.clear();
    written_.clear();
  }

  static bool is_same(const Address& a, const Address& b) { return a.base == b.base && a.index == b.index; }

  // A step writes what it has asked to write, and reads what else it has been given.
  Address to_write(const Address& address) {
    of_step_.push_back(address);
    written_.push_back(address);
    return address;
  }
  Address to_read(const Address& address) {
    of_step_.push_back(address);
    return address;
  }

  // What did not come from to_read() is taken to be written.
  void add_use(const Address& address, std::vector<Use>& uses) const {
    if (address.base == Address::Base::none || address.base == Address::Base::bindings) return;  // nobody writes these
    const auto is_this = [&](const Address& other) { return is_same(address, other); };
    const bool is_read_only = address.base != Address::Base::failures && std::ranges::any_of(of_step_, is_this) &&
                              std::ranges::none_of(written_, is_this);
    uses.push_back({address, !is_read_only});
  }
  std::vector<Use> uses_of(std::span<const Address> addresses) const {
    std::vector<Use> uses;
    uses.reserve(addresses.size());
    for (const auto& address : addresses) add_use(address, uses);
    return uses;
  }
  std::vector<Use> uses_of(std::span<const Argument> arguments) const {
    std::vector<Use> uses;
    for (const auto& argument : arguments) {
      if (argument.is_address()) add_use(argument.address(), uses);
    }
    return uses;
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
    return to_read({Address::Base::failures, 0, check * 16});
  }

  const ir::Node& node(std::int32_t n) const { return program_.nodes[static_cast<std::size_t>(n)]; }
  const ValueView& view_of(ir::Ref value) const { return views_[static_cast<std::size_t>(value.index())]; }
  std::int32_t& output_of(ir::Ref value) { return output_of_[static_cast<std::size_t>(value.index())]; }

  View input(ir::Ref ref, const ValueView& view, const ir::TensorType& type) {
    last_read_[static_cast<std::size_t>(ref.index())] = step_;
    const auto offset = view.offset * static_cast<std::int64_t>(ir::size_of(type.dtype));
    return {to_read({Address::Base::input, ref.index(), offset}), type.dtype, type.shape, view.strides};
  }

  std::int32_t new_block(std::size_t bytes) {
    lifetimes_.push_back({bytes, step_, step_});
    return static_cast<std::int32_t>(lifetimes_.size()) - 1;
  }

  // Where a value that is no view lies. It lives from its first mention to its last.
  Address storage(ir::Ref value) {
    if (const auto* scalar = std::get_if<ir::Scalar>(&program_.maker_of(value).op))
      return {Address::Base::bindings, 0, 16 + 8 * scalar->slot};
    if (const auto output = output_of(value); output != kNone) return to_read({Address::Base::output, output, 0});
    auto& block = block_of_[static_cast<std::size_t>(value.index())];
    if (block == kNone) {
      block = new_block(program_.type_of(value).num_bytes());
      if (const auto* made = constant(value)) fill_constant(*made, block);
    }
    lifetimes_[static_cast<std::size_t>(block)].last = step_;
    return to_read({Address::Base::block, block, 0});
  }

  // A number in memory, for what reads no constants.
  void fill_constant(const ir::Constant& constant, std::int32_t block) {
    const auto dtype = constant.dtype;
    const bool is_real = ir::is_floating(dtype);
    const auto type = storage_type(dtype);
    KernelSource source{
        fmt::format("#include \"backends/cuda/kernels/types.h\"\nusing namespace burn::cuda;\n"
                    "extern \"C\" __global__ void burn_kernel({}* y, {} x) {{ *y = "
                    "to_storage<{}>(burn::ir::convert_number<compute_t<{}>>(x)); }}\n",
                    type, is_real ? "double" : "std::int64_t", type, type)};
    launch(source, {.blocks = 1, .threads = 1},
           {to_write({Address::Base::block, block, 0}), is_real ? Argument(constant.real) : Argument(constant.number)});
  }

  // Values that outputs are, or that outputs see whole and row-major, are computed where the output is to be.
  void assign_outputs() {
    lowered_.outputs.resize(program_.outputs.size());
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      const auto ref = program_.outputs[k];
      if (view_of(ref).base == ref && !is_number(ref)) output_of(ref) = static_cast<std::int32_t>(k);
    }
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      const auto ref = program_.outputs[k];
      const auto& view = view_of(ref);
      if (view.base == ref || !is_whole(ref)) continue;
      if (view.base.is_input())
        lowered_.outputs[k].shares_input = view.base.index();
      else if (output_of(view.base) == kNone && !is_number(view.base))
        output_of(view.base) = static_cast<std::int32_t>(k);
    }
  }

  // Iotas that only formulas read, which have an element's position anyhow.
  void find_counted() {
    constexpr std::int64_t kMostOfF32 = 1 << 24;  // all whole numbers below are numbers of f32
    is_counted_.assign(program_.values.size(), false);
    for (const auto& made : program_.nodes) {
      const auto* iota = std::get_if<ir::Iota>(&made.op);
      const bool fits = iota && (iota->dtype == ir::DType::i64 || iota->dtype == ir::DType::i32 ||
                                 (iota->dtype == ir::DType::f32 && iota->size <= kMostOfF32));
      if (fits && iota->size > 0) is_counted_[made.first_value] = true;
    }
    const auto is_read = [&](ir::Ref ref) {  // from memory
      if (ref.is_input()) return;
      const auto base = view_of(ref).base;
      if (!base.is_input()) is_counted_[static_cast<std::size_t>(base.index())] = false;
    };
    for (const auto& reader : program_.nodes) {
      const auto made = ir::Ref::value(static_cast<std::int32_t>(reader.first_value));
      const bool is_view = reader.value_count > 0 && view_of(made).base != made;
      const bool is_formula =
          std::holds_alternative<ir::Pointwise>(reader.op) || std::holds_alternative<ir::Cast>(reader.op);
      if (!is_view && !is_formula) std::ranges::for_each(program_.operands_of(reader), is_read);
    }
    for (const auto& group : plan_.groups) {  // numbers of rows
      for (const auto& member : group.members) {
        if (member.level != codegen::Level::full)
          std::ranges::for_each(program_.operands_of(node(member.node)), is_read);
      }
    }
    std::ranges::for_each(program_.outputs, is_read);
    for (const auto& product : plan_.products) {
      if (product.kind == ProductWithEpilogue::Kind::bias) is_read(product.other);
    }
  }

  bool is_number(ir::Ref value) const {
    const auto& op = program_.maker_of(value).op;
    return std::holds_alternative<ir::Constant>(op) || std::holds_alternative<ir::Scalar>(op);
  }
  bool is_whole(ir::Ref ref) const {
    const auto& view = view_of(ref);
    const auto& type = program_.type_of(ref);
    return view.offset == 0 && is_contiguous(type.shape, view.strides) &&
           type.num_bytes() == program_.type_of(view.base).num_bytes();
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
      made_at_output_[k] = step_;
      copy(read(ref), {to_write({Address::Base::output, static_cast<std::int32_t>(k), 0}), type.dtype, type.shape,
                       ir::contiguous_strides(type.shape)});
    }
  }

  // Donated inputs become outputs of as many bytes that are made when they are not read any more, or in place.
  void reuse_inputs() {
    std::vector<bool> taken(program_.inputs.size());
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      if (const auto shared = lowered_.outputs[k].shares_input; shared != kNone)
        taken[static_cast<std::size_t>(shared)] = true;
    }
    const auto value_of_output = output_values();
    const auto try_reuse = [&](std::size_t k, std::int32_t i, bool in_place) {
      auto& output = lowered_.outputs[k];
      const auto& from = program_.inputs[static_cast<std::size_t>(i)];
      if (output.shares_input != kNone || output.reuses_input != kNone || !from.donated ||
          taken[static_cast<std::size_t>(i)])
        return;
      if (from.type.num_bytes() != program_.type_of(program_.outputs[k]).num_bytes() || from.type.num_bytes() == 0)
        return;
      const auto made = made_at(k, value_of_output[k]);
      const auto read = last_read_[static_cast<std::size_t>(i)];
      if (in_place ? read > made : read >= made) return;
      output.reuses_input = i;
      taken[static_cast<std::size_t>(i)] = true;
    };
    for (const auto& [input, value] : in_place_) {
      const auto output = output_of_[static_cast<std::size_t>(value)];
      if (output != kNone) try_reuse(static_cast<std::size_t>(output), input, true);
    }
    for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
      for (std::int32_t i = 0; i < static_cast<std::int32_t>(program_.inputs.size()); ++i) try_reuse(k, i, false);
    }
  }

  std::vector<std::int32_t> output_values() const {
    std::vector<std::int32_t> values(program_.outputs.size(), kNone);
    for (std::size_t v = 0; v < output_of_.size(); ++v) {
      if (output_of_[v] != kNone) values[static_cast<std::size_t>(output_of_[v])] = static_cast<std::int32_t>(v);
    }
    return values;
  }
  std::int32_t made_at(std::size_t output, std::int32_t value) const {
    if (value != kNone && made_at_[static_cast<std::size_t>(value)] != kNone)
      return made_at_[static_cast<std::size_t>(value)];
    const auto found = made_at_output_.find(output);
    return found == made_at_output_.end() ? kNone : found->second;
  }

  Status lower_step(const PlanStep& step) {
    if (step.product != PlanStep::kNone) {
      const auto& product = plan_.products[static_cast<std::size_t>(step.product)];
      node_ = product.product;
      return at_node_if_error(lower_product(*this, program_, product));
    }
    if (step.group != PlanStep::kSingle) {
      const auto& group = plan_.groups[static_cast<std::size_t>(step.group)];
      node_ = group.members[0].node;
      return at_node_if_error(emit_group(*this, program_, group, step.results));
    }
    node_ = step.node;
    const auto& here = node(step.node);
    if (is_number(step.results[0]) || view_of(step.results[0]).base != step.results[0]) return {};
    if (is_counted_[static_cast<std::size_t>(step.results[0].index())]) return {};
    if (is_elementwise(here)) {
      codegen::Group group;
      group.domain = program_.type_of(here).shape;
      group.members = {{step.node, codegen::Level::full}};
      return at_node_if_error(emit_group(*this, program_, group, step.results));
    }
    const NodeInPlan at{program_, here};
    return at_node_if_error(std::visit([&](const auto& op) { return lowering::lower(*this, op, at); }, here.op));
  }

  static bool is_elementwise(const ir::Node& node) {
    if (const auto* random = std::get_if<ir::Random>(&node.op)) return ir::first_position(*random).has_value();
    return std::holds_alternative<ir::Pointwise>(node.op) || std::holds_alternative<ir::Cast>(node.op);
  }

  Status at_node_if_error(const Status& status) const { return status.ok() ? status : at_node(status, node(node_)); }

  Device& device_;
  const ir::Program& program_;
  const Plan& plan_;
  const std::vector<ValueView> views_;
  const std::map<std::int32_t, PlaceInside> places_;
  std::set<std::int32_t> in_place_values_;  // written at their place
  Lowered lowered_;
  std::vector<Lifetime> lifetimes_;      // of blocks
  std::vector<std::int32_t> block_of_;   // per value
  std::vector<std::int32_t> output_of_;  // per value: the output that it is computed in
  std::vector<bool> is_counted_;         // per value: an Iota that has no memory
  std::unordered_map<std::string, std::size_t> source_of_;
  std::unordered_map<std::shared_ptr<const BlockKernel>, std::size_t> number_of_kernel_;
  std::vector<std::int32_t> last_read_;                          // per input: the step, or kNone
  std::vector<std::int32_t> made_at_;                            // per value: the step, or kNone
  std::map<std::size_t, std::int32_t> made_at_output_;           // of outputs that are copied
  std::vector<std::pair<std::int32_t, std::int32_t>> in_place_;  // input, value
  std::vector<Address> of_step_, written_;                       // what this step has been given, to write
  std::int32_t step_ = -1, node_ = 0;
};

}  // namespace

Result<Lowered> lower_program(Device& device, const ir::Program& program, const Plan& plan) {
  return ProgramEmitter(device, program, plan).run();
}

// --- what is made of the rest ----------------------------------------------------------------------------------------

View Emitter::scratch_value(const ir::TensorType& type) {
  return {scratch(type.num_bytes()), type.dtype, type.shape, ir::contiguous_strides(type.shape)};
}

View Emitter::contiguous(const View& view) {
  if (view.is_contiguous()) return view;
  const auto whole = scratch_value({view.dtype, view.shape});
  copy(view, whole);
  return whole;
}

}  // namespace burn::backends::cuda
