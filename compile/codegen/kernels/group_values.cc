#include "compile/codegen/kernels/group_values.h"

#include <algorithm>

#include "base/error.h"
#include "compile/codegen/accuracy.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/formulas.h"
#include "compile/codegen/kernel/random.h"
#include "ir/random_box.h"

namespace burn::compile::kernels {

using kernel::Value;

GroupValues::GroupValues(kernel::Writer& writer, Arguments& arguments, const GroupPlan& plan,
                         std::set<std::int32_t> coarse)
    : writer_(writer), arguments_(arguments), plan_(plan), coarse_(std::move(coarse)) {
  reads_.resize(plan.reads().size());
  first_.resize(plan.reads().size());
  for (std::size_t k = 0; k < plan.reads().size(); ++k) {
    const auto& read = plan.reads()[k];
    if (read.kind == GroupOperand::Kind::constant || read.kind == GroupOperand::Kind::computed) continue;
    if (read.counts) {
      first_[k] = writer_.number(ir::DType::i64);
      arguments_.add(read.view.address.offset);
    } else {
      reads_[k] = arguments_.address(read.view);
    }
  }
  for (const auto& write : plan.writes()) writes_.push_back(arguments_.address(write.view));
}

int GroupValues::number_parameter(std::int64_t number) {
  const auto which = arguments_.count();
  arguments_.number(number);
  return which;
}

const GroupValues::LoopParameters& GroupValues::parameters_of(const LoopDims& walk) {
  const auto [found, is_new] = walks_.try_emplace(&walk);
  auto& parameters = found->second;
  if (!is_new) return parameters;
  for (std::size_t d = 0; d < walk.sizes.size(); ++d)
    parameters.sizes.push_back(d == 0 ? -1 : number_parameter(walk.sizes[d]));
  for (const auto& strides : walk.strides) {
    std::vector<int> of;
    of.reserve(strides.size());
    for (const auto stride : strides) of.push_back(stride == 0 || stride == 1 ? -1 : number_parameter(stride));
    parameters.strides.push_back(std::move(of));
  }
  return parameters;
}

Offsets GroupValues::offsets_in(const LoopDims& walk, Value position) {
  const auto& parameters = parameters_of(walk);
  std::vector<Value> places(walk.sizes.size());
  Value rest = position;
  for (std::size_t d = walk.sizes.size(); d-- > 1;) {
    const Value size = writer_.parameter(parameters.sizes[d]), before = rest / size;
    places[d] = rest - before * size;
    rest = before;
  }
  places[0] = rest;
  Offsets offsets;
  for (std::size_t k = 0; k < walk.strides.size(); ++k) {
    Value offset = index(0);
    for (std::size_t d = 0; d < places.size(); ++d) {
      const auto stride = walk.strides[k][d];
      if (stride == 0) continue;
      offset = offset + (stride == 1 ? places[d] : places[d] * writer_.parameter(parameters.strides[k][d]));
    }
    offsets.push_back(offset);
  }
  return offsets;
}

// --- reads and writes ------------------------------------------------------------------------------------------------

KnownValues GroupValues::scalars() {
  KnownValues known{std::vector<Value>(plan_.reads().size()), std::vector<Value>(plan_.group().members.size())};
  for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
    const auto& read = plan_.reads()[k];
    if (read.kind == GroupOperand::Kind::scalar) {
      known.reads[k] = writer_.load(reads_[k], index(0));
    } else if (read.kind == GroupOperand::Kind::constant) {
      const auto type = dtype(read.ref), compute = ir::compute_dtype(type);
      if (compute == ir::DType::f32)
        arguments_.add(static_cast<float>(read.constant.real));
      else if (compute == ir::DType::f64)
        arguments_.add(read.constant.real);
      else
        arguments_.add(read.constant.number);
      known.reads[k] = kernel::rounded(type, writer_.number(compute));
    }
  }
  return known;
}

Value GroupValues::read(std::size_t k, Value offset) {
  if (!plan_.reads()[k].counts) return writer_.load(reads_[k], offset);
  const auto type = plan_.reads()[k].view.dtype;
  return kernel::cast(type, first_[k] + to(ir::DType::i64, offset));
}

void GroupValues::write(std::size_t k, Value offset, const KnownValues& known) {
  writer_.store(writes_[k], offset, of(plan_.writes()[k].ref, known));
}

std::vector<Value> GroupValues::read(std::size_t k, Value offset, int width) {
  if (!plan_.reads()[k].counts) return writer_.load(reads_[k], offset, width);
  std::vector<Value> all;
  all.reserve(static_cast<std::size_t>(width));
  for (int j = 0; j < width; ++j) all.push_back(read(k, j == 0 ? offset : offset + j));
  return all;
}

void GroupValues::write(std::size_t k, Value offset, std::span<const KnownValues> known) {
  std::vector<Value> values;
  for (const auto& one : known) values.push_back(of(plan_.writes()[k].ref, one));
  writer_.store(writes_[k], offset, values);
}

// --- elements --------------------------------------------------------------------------------------------------------

Offsets GroupValues::offsets_at(const LoopDims& walk, Value position) {
  return walk.is_linear() ? Offsets(static_cast<std::size_t>(plan_.full_count()), position)
                          : offsets_in(walk, position);
}

void GroupValues::read_elements(const LoopDims& walk, const Offsets& offsets, std::vector<KnownValues>& known) {
  for (std::size_t k = 0; k < plan_.reads().size(); ++k) {
    if (plan_.reads()[k].kind != GroupOperand::Kind::full) continue;
    const auto full = static_cast<std::size_t>(plan_.reads()[k].full_index);
    const bool repeats = walk.strides[full].back() == 0;
    const auto values = read(k, offsets[full], repeats ? 1 : static_cast<int>(known.size()));
    for (std::size_t j = 0; j < known.size(); ++j) known[j].reads[k] = values[repeats ? 0 : j];
  }
}

void GroupValues::compute_elements(Value position, std::vector<KnownValues>& known) {
  for (std::size_t j = 0; j < known.size(); ++j) {
    const Value at = j == 0 ? position : position + static_cast<std::int64_t>(j);
    for (const auto& member : plan_.group().members)
      known[j].members[member_index(member)] = compute(member, at, known[j]);
  }
}

void GroupValues::write_elements(const Offsets& offsets, std::span<const KnownValues> known) {
  for (std::size_t k = 0; k < plan_.writes().size(); ++k)
    write(k, offsets[static_cast<std::size_t>(plan_.writes()[k].full_index)], known);
}

// --- members ---------------------------------------------------------------------------------------------------------

std::size_t GroupValues::read_index(ir::Ref ref) const {
  return static_cast<std::size_t>(plan_.read(ref) - plan_.reads().data());
}
std::size_t GroupValues::member_index(const Member& member) const {
  return static_cast<std::size_t>(&member - plan_.group().members.data());
}

Value GroupValues::of(ir::Ref ref, const KnownValues& known) const {
  const auto* member = plan_.member(ref);
  const Value value = member ? known.members[member_index(*member)] : known.reads[read_index(ref)];
  BURN_CHECK(value.id >= 0, "a value of a group is read before it is known");
  return value;
}

bool GroupValues::is_read(ir::Ref value) const {
  return std::ranges::any_of(plan_.group().members, [&](const Member& member) {
    const auto operands = plan_.program().operands_of(plan_.node(member));
    return std::ranges::find(operands, value) != operands.end();
  });
}

Value GroupValues::compute(const Member& member, Value position, const KnownValues& known) {
  const auto& node = plan_.node(member);
  const auto operands = plan_.program().operands_of(node);
  const auto type = plan_.program().type_of(node).dtype;
  Value value;
  if (const auto* function = std::get_if<ir::Pointwise>(&node.op)) {
    std::vector<Value> values;
    for (const auto operand : operands) values.push_back(of(operand, known));
    const bool is_coarse = writer_.has_functions() && coarse_.contains(member.node) && values[0].type == ir::DType::f32;
    const auto coarse = is_coarse ? coarse_function(plan_, member, function->fn) : std::nullopt;
    if (!coarse)
      value = kernel::apply(function->fn, values);
    else
      value = values.size() == 1 ? kernel::call(*coarse, values[0]) : kernel::call(*coarse, values[0], values[1]);
  } else if (std::holds_alternative<ir::Cast>(node.op)) {
    value = kernel::cast(type, of(operands[0], known));
  } else if (const auto* drawn = std::get_if<ir::Random>(&node.op)) {
    value = random(*drawn, position);
  } else {
    value = of(operands[0], known);  // an expand: the row's number for each of its elements
  }
  return is_read(plan_.value_of(member)) ? kernel::rounded(type, value) : value;
}

Value GroupValues::random(const ir::Random& op, Value position) {
  const auto u64 = ir::DType::u64;
  const std::int64_t first = ir::first_position(op).value_or(0);
  const auto bindings = arguments_.address(u64, {.base = Address::Base::bindings});
  arguments_.add(op.offset + first / 4);
  const Value block = writer_.load(bindings, index(1)) + writer_.number(u64);
  const Value at = to(u64, position) + first % 4;
  return kernel::random_at(op.fn, ir::compute_dtype(op.dtype), writer_.load(bindings, index(0)), block, at);
}

}  // namespace burn::compile::kernels
