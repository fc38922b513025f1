#include "compile/lower/step_emitter.h"

#include <utility>

#include "compile/codegen/known_call.h"
#include "compile/codegen/target.h"
#include "ir/node_errors.h"

namespace burn::compile {

StepEmitter::StepEmitter(Target& target, const ir::Program& program, const Plan& plan, Lowered& lowered)
    : target_(target),
      program_(program),
      plan_(plan),
      lowered_(lowered),
      values_(program, plan, step_),
      iotas_(find_counted(program, plan, values_.views())),
      timeline_(program.inputs.size(), program.values.size(), program.outputs.size()) {}

void StepEmitter::begin_step(std::int32_t step) {
  step_.number = step;
  step_.uses.begin_step();
}

// --- values ---

const ir::Constant* StepEmitter::constant(ir::Ref ref) {
  const auto base = ref.is_input() ? ref : values_.view_of(ref).base;
  return base.is_input() ? nullptr : std::get_if<ir::Constant>(&program_.maker_of(base).op);
}

std::optional<View> StepEmitter::counted(ir::Ref ref) {
  if (ref.is_input()) return std::nullopt;
  const auto& view = values_.view_of(ref);
  if (view.base.is_input() || !iotas_.counted[static_cast<std::size_t>(view.base.index())]) return std::nullopt;
  const auto& type = program_.type_of(ref);
  return View{{.offset = view.offset}, type.dtype, type.shape, view.strides};
}

View StepEmitter::read(ir::Ref ref) {
  const auto& type = program_.type_of(ref);
  if (ref.is_input()) return input(ref, {.base = ref, .strides = ir::contiguous_strides(type.shape)}, type);
  const auto& view = values_.view_of(ref);
  if (view.base.is_input()) return input(view.base, view, type);
  View result{storage(view.base), type.dtype, type.shape, view.strides};
  result.address.offset += view.offset * static_cast<std::int64_t>(ir::size_of(type.dtype));
  return result;
}

View StepEmitter::input(ir::Ref ref, const ValueView& view, const ir::TensorType& type) {
  timeline_.last_read[static_cast<std::size_t>(ref.index())] = step_.number;
  const auto offset = view.offset * static_cast<std::int64_t>(ir::size_of(type.dtype));
  return {to_read({Address::Base::input, ref.index(), offset}), type.dtype, type.shape, view.strides};
}

// A number that has memory, for what reads no constants, is written there when it is first read.
Address StepEmitter::storage(ir::Ref value) {
  const auto found = values_.find(value);
  if (found.is_new) {
    if (const auto* number = constant(value)) target_.fill_constant(*this, *number, to_write(found.address));
  }
  return found.address;
}

View StepEmitter::result(ir::Ref value) {
  const auto& type = program_.type_of(value);
  timeline_.made[static_cast<std::size_t>(value.index())] = step_.number;
  return {to_write(storage(value)), type.dtype, type.shape, values_.view_of(value).strides};
}

std::optional<View> StepEmitter::place(ir::Ref value) {
  const auto* inside = values_.place_of(value);
  if (!inside) return std::nullopt;
  const auto& type = program_.type_of(value);
  Address address = storage(inside->whole);
  address.offset += inside->offset * static_cast<std::int64_t>(ir::size_of(type.dtype));
  return View{to_write(address), type.dtype, type.shape, inside->strides};
}

Address StepEmitter::scratch(std::size_t bytes) {
  return to_write({Address::Base::block, values_.add_block(bytes), 0});
}

void StepEmitter::allow_in_place(const View& operand, ir::Ref result) {
  if (operand.address.base == Address::Base::input && operand.address.offset == 0)
    timeline_.in_place.emplace_back(operand.address.index, result.index());
}

// --- commands ---

void StepEmitter::launch(const KernelSource& source, const Grid& grid, std::vector<Argument> arguments) {
  if (grid.blocks == 0 || grid.blocks_y == 0) return;
  lowered_.commands.push_back({Launch(number_of(source), grid, arguments), step_.number, step_.uses.of(arguments)});
}

void StepEmitter::launch(std::shared_ptr<const BlockKernel> kernel, std::int64_t blocks,
                         std::vector<Argument> arguments, std::vector<Address> written) {
  if (blocks == 0) return;
  const auto [known, is_new] = number_of_kernel_.try_emplace(kernel, 0);
  if (is_new) known->second = number_of(kernel->alone());
  lowered_.commands.push_back(
      {Launch(known->second, {.blocks = blocks}, arguments), step_.number, step_.uses.of(arguments)});
  std::get<Launch>(lowered_.commands.back().what).mergeable = std::make_shared<const MergeableLaunch>(
      MergeableLaunch{std::move(kernel), std::move(arguments), std::move(written), is_part()});
}

// Whether the step puts values side by side, each by a launch of its own.
bool StepEmitter::is_part() const {
  const auto at = static_cast<std::size_t>(step_.number);
  return at < plan_.steps.size() && plan_.steps[at].group == PlanStep::kSingle &&
         plan_.steps[at].product == PlanStep::kNone &&
         std::holds_alternative<ir::Concat>(program_.nodes[static_cast<std::size_t>(step_.node)].op);
}

// Of the program's sources.
std::size_t StepEmitter::number_of(const KernelSource& source) {
  const auto [found, is_new] = source_of_.try_emplace(source.text, lowered_.sources.size());
  if (is_new) lowered_.sources.push_back(source);
  return found->second;
}

void StepEmitter::call(LibraryCall call) {
  const auto* known = call.target<KnownCall>();
  auto uses = known ? step_.uses.of(known->used) : step_.uses.of_all();
  lowered_.commands.push_back({std::move(call), step_.number, std::move(uses)});
}

void StepEmitter::fill_zero(const Address& where, std::size_t bytes) {
  if (bytes > 0) lowered_.commands.push_back({Fill{where, bytes}, step_.number, {{where, true}}});
}

// --- checks ---

Address StepEmitter::report_index(std::int64_t size, std::int32_t node) {
  return add_check(node < 0 ? step_.node : node,
                   [size](std::int64_t index) { return ir::index_out_of_range(index, size); });
}

Address StepEmitter::report(std::function<Status(std::int64_t)> explain) {
  return add_check(step_.node, std::move(explain));
}

Address StepEmitter::add_check(std::int32_t node, std::function<Status(std::int64_t)> explain) {
  const auto check = static_cast<std::int64_t>(lowered_.checks.size());
  lowered_.checks.push_back({node, std::move(explain)});
  return to_read({Address::Base::failures, 0, check * 16});
}

}  // namespace burn::compile
