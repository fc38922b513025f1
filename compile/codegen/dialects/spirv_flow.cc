#include "compile/codegen/dialects/spirv_flow.h"

#include "base/error.h"

namespace burn::compile::spirv {

using ir::DType;
using kernel::Code;

void SpirvFlow::label(Id id) { state_.module.code().put(Op::Label, {id}); }
void SpirvFlow::branch(Id to) { state_.module.code().put(Op::Branch, {to}); }

void SpirvFlow::begin_loop(std::size_t i, const kernel::Instruction& loop) {
  Open open{.merge = state_.module.new_id(), .next = state_.module.new_id(), .is_loop = true, .type = loop.type};
  open.header = state_.module.new_id(), open.counter_after = state_.module.new_id(),
  open.step = state_.id_of(loop.operands[2]);
  const Id before = state_.module.new_id(), body = state_.module.new_id(), type = state_.module.type(loop.type);
  branch(before);  // so that the counter's first value comes from a block of its own
  label(before);
  branch(open.header);
  label(open.header);
  open.counter =
      state_.module.make(Op::Phi, type, {state_.id_of(loop.operands[0]), before, open.counter_after, open.next});
  state_.ids[i] = open.counter;
  const Id is_less =
      state_.module.make(kernel::is_signed(loop.type) ? Op::SLessThan : Op::ULessThan, state_.module.type(DType::bool_),
                         {open.counter, state_.id_of(loop.operands[1])});
  state_.module.code().put(Op::LoopMerge, {open.merge, open.next, 0});
  state_.module.code().put(Op::BranchConditional, {is_less, body, open.merge});
  label(body);
  open_.push_back(open);
}

void SpirvFlow::end_loop() {
  const auto open = take_open();
  branch(open.next);
  label(open.next);
  state_.module.code().put(Op::IAdd, {state_.module.type(open.type), open.counter_after, open.counter, open.step});
  branch(open.header);
  label(open.merge);
}

void SpirvFlow::break_when(Id condition) {
  const Id leave = state_.module.new_id(), stay = state_.module.new_id();
  state_.module.code().put(Op::SelectionMerge, {stay, 0});
  state_.module.code().put(Op::BranchConditional, {condition, leave, stay});
  label(leave);
  for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
    if (!open->is_loop) continue;
    branch(open->merge);
    label(stay);
    return;
  }
  BURN_CHECK(false, "a break outside of loops");
}

void SpirvFlow::begin_when(std::size_t i, Id condition) {
  Open open{.merge = state_.module.new_id(), .next = state_.module.new_id()};
  open.has_otherwise = has_otherwise(i);
  const Id then = state_.module.new_id();
  state_.module.code().put(Op::SelectionMerge, {open.merge, 0});
  state_.module.code().put(Op::BranchConditional, {condition, then, open.has_otherwise ? open.next : open.merge});
  label(then);
  open_.push_back(open);
}

bool SpirvFlow::has_otherwise(std::size_t i) const {
  int depth = 0;
  for (++i; i < state_.kernel.body.size(); ++i) {
    const auto code = state_.kernel.body[i].code;
    if (code == Code::when) ++depth;
    if (code == Code::end_when && depth-- == 0) return false;
    if (code == Code::otherwise && depth == 0) return true;
  }
  return false;
}

SpirvFlow::Open SpirvFlow::take_open() {
  BURN_CHECK(!open_.empty(), "an end of nothing");
  const auto open = open_.back();
  open_.pop_back();
  return open;
}

bool SpirvFlow::put(std::size_t i) {
  const auto& now = state_.kernel.body[i];
  switch (now.code) {
    case Code::loop:
      begin_loop(i, now);
      return true;
    case Code::break_when:
      break_when(state_.id_of(now.operands[0]));
      return true;
    case Code::end_loop:
      end_loop();
      return true;
    case Code::when:
      begin_when(i, state_.id_of(now.operands[0]));
      return true;
    case Code::otherwise: {
      const auto& open = open_.back();
      branch(open.merge);
      label(open.next);
      return true;
    }
    case Code::end_when: {
      const auto open = take_open();
      branch(open.merge);
      label(open.merge);
      return true;
    }
    default:
      return false;
  }
}

}  // namespace burn::compile::spirv
