#include "compile/codegen/accuracy.h"

#include <algorithm>
#include <cmath>

namespace burn::compile {
namespace {

bool is_short(ir::DType dtype) { return dtype == ir::DType::f16 || dtype == ir::DType::bf16; }

// Whether the group only adds the value, or its square, to numbers about as large as 1 or larger, so that what it is
// near 0 is lost anyhow: as GELU and its gradient do with a tanh.
bool stands_beside_one(const GroupPlan& plan, ir::Ref value) {
  const auto is_large = [&](ir::Ref ref) {
    const auto* read = plan.read(ref);
    return read && read->kind == GroupOperand::Kind::constant && std::abs(read->constant.real) >= 0.5;
  };
  if (std::ranges::find(plan.writes(), value, &GroupOperand::ref) != plan.writes().end()) return false;
  return std::ranges::all_of(plan.group().members, [&](const Member& member) {
    const auto operands = plan.program().operands_of(plan.node(member));
    if (std::ranges::find(operands, value) == operands.end()) return true;
    const auto* function = std::get_if<ir::Pointwise>(&plan.node(member).op);
    if (!function) return false;
    if (function->fn == ir::PointwiseFn::add || function->fn == ir::PointwiseFn::sub)
      return is_large(operands[operands[0] == value ? 1 : 0]);
    return function->fn == ir::PointwiseFn::mul && operands[0] == operands[1] &&
           stands_beside_one(plan, plan.value_of(member));
  });
}

}  // namespace

std::set<std::int32_t> coarse_members(const GroupPlan& plan, const std::set<std::int32_t>& members,
                                      std::span<const ir::Ref> seen) {
  const auto& program = plan.program();
  std::set<std::int32_t> exact, coarse;
  const auto see = [&](ir::Ref ref) {
    if (!ref.is_input()) exact.insert(program.node_of(ref));
  };
  std::ranges::for_each(seen, see);
  for (auto n = members.rbegin(); n != members.rend(); ++n) {  // readers before what they read
    const auto& node = program.nodes[static_cast<std::size_t>(*n)];
    const auto dtype = program.type_of(node).dtype;
    if (is_short(dtype) || (dtype == ir::DType::f32 && !exact.contains(*n)))
      coarse.insert(*n);
    else
      std::ranges::for_each(program.operands_of(node), see);
  }
  return coarse;
}

std::set<std::int32_t> coarse_elements(const GroupPlan& plan) {
  std::set<std::int32_t> members;
  for (const auto& member : plan.group().members) members.insert(member.node);
  std::vector<ir::Ref> seen;
  for (const auto& write : plan.writes()) seen.push_back(write.ref);
  return coarse_members(plan, members, seen);
}

ir::Ref exact_value_for(const GroupPlan& plan, const ir::Reduce& reduce, ir::Ref operand) {
  const auto& program = plan.program();
  const auto operands_if = [&](ir::Ref ref, auto is_meant) -> std::span<const ir::Ref> {
    const auto* member = plan.member(ref);
    if (!member || !is_meant(plan.node(*member).op)) return {};
    return program.operands_of(plan.node(*member));
  };
  const auto computes = [](ir::PointwiseFn fn) {
    return [fn](const ir::Op& op) {
      const auto* function = std::get_if<ir::Pointwise>(&op);
      return function && function->fn == fn;
    };
  };
  if (reduce.fn != ir::ReduceFn::sum || program.type_of(operand).dtype != ir::DType::f32) return operand;
  const auto exponent = operands_if(operand, computes(ir::PointwiseFn::exp));
  if (exponent.empty()) return operand;
  const auto difference = operands_if(exponent[0], computes(ir::PointwiseFn::sub));
  if (difference.empty()) return operand;
  const auto repeated =
      operands_if(difference[1], [](const ir::Op& op) { return std::holds_alternative<ir::Expand>(op); });
  if (repeated.empty()) return operand;
  const auto largest_of = operands_if(repeated[0], [](const ir::Op& op) {
    const auto* of = std::get_if<ir::Reduce>(&op);
    return of && of->fn == ir::ReduceFn::max;
  });
  return !largest_of.empty() && largest_of[0] == difference[0] ? exponent[0] : operand;
}

std::optional<kernel::Function> coarse_function(const GroupPlan& plan, const Member& member, ir::PointwiseFn fn) {
  using enum ir::PointwiseFn;
  using kernel::Function;
  switch (fn) {
    case exp:
      return Function::coarse_exp;
    case tanh:
      return stands_beside_one(plan, plan.value_of(member)) ? Function::coarse_tanh_beside_one : Function::coarse_tanh;
    case sigmoid:
      return Function::coarse_sigmoid;
    case div:
      return Function::coarse_div;
    case recip:
      return Function::coarse_recip;
    case rsqrt:
      return Function::coarse_rsqrt;
    case sqrt:
      return Function::coarse_sqrt;
    default:
      return std::nullopt;
  }
}

}  // namespace burn::compile
