#include "compile/codegen/dialects/spirv.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "compile/codegen/dialects/spirv_memory.h"
#include "compile/codegen/dialects/spirv_operations.h"

namespace burn::compile {
namespace {

using ir::DType;
using kernel::Code;
using kernel::Instruction;
using spirv::Id;
using spirv::Op;
using spirv::StorageClass;

class SpirvPrinter {
 public:
  SpirvPrinter(const kernel::Kernel& kernel, const DeviceFacts& facts)
      : state_{.kernel = kernel, .has_int64 = facts.has_int64}, kernel_(kernel), facts_(facts), memory_(state_) {}

  std::vector<std::uint32_t> print() {
    load_parameters();
    ids_.resize(kernel_.body.size());
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) put(i);
    std::vector<std::uint32_t> preserved;
    if (facts_.keeps_nan_f32 && uses_f32_) preserved.push_back(32);
    if (facts_.keeps_nan_f64 && uses_f64_) preserved.push_back(64);
    return module_.finish(kernel_.threads, preserved);
  }

 private:
  // A loop or a branch that has begun.
  struct Open {
    Id merge = 0;
    Id next = 0;  // of a loop: where the counter goes on; of a branch: where the other side begins
    Id header = 0, counter = 0, step = 0, counter_after = 0;
    bool is_loop = false, has_otherwise = false;
    DType type = DType::u32;
  };

  const Instruction& made(std::int32_t id) const { return state_.made(id); }
  Id id_of(std::int32_t id) const { return state_.id_of(id); }

  Id u32(std::uint32_t number) { return state_.u32(number); }

  // --- entry ---

  // Words of the argument record, in the function's first block.
  void load_parameters() {
    if (kernel_.parameters.empty()) return;
    const auto unit = state_.has_int64 ? DType::u64 : DType::u32;
    const Id word = module_.type(unit), pushed = state_.has_int64 ? word : module_.vector(word, 2);
    const Id push = module_.variable(StorageClass::PushConstant,
                                     module_.pointer(StorageClass::PushConstant, module_.push_block(pushed)));
    const Id at = module_.make(Op::AccessChain, module_.pointer(StorageClass::PushConstant, pushed), {push, u32(0)});
    const Id address = module_.make(Op::Load, pushed, {at});
    const Id record =
        module_.make(state_.has_int64 ? Op::ConvertUToPtr : Op::Bitcast, module_.buffer_pointer(unit), {address});
    const Id in_record = module_.pointer(StorageClass::PhysicalStorageBuffer, word);
    const auto load = [&](std::size_t which) {
      const Id place =
          module_.make(Op::AccessChain, in_record, {record, u32(0), u32(static_cast<std::uint32_t>(which))});
      return module_.make(Op::Load, word, {place, spirv::kAligned, static_cast<std::uint32_t>(ir::size_of(unit))});
    };
    for (std::size_t k = 0; k < kernel_.parameters.size(); ++k) {
      if (state_.has_int64) {
        state_.parameters.push_back(load(k));
      } else {
        const Id lower = load(2 * k);
        state_.halves.emplace_back(lower, load(2 * k + 1));
      }
    }
  }

  // A parameter that is a number.
  Id number_of(std::size_t parameter) {
    const auto type = kernel_.parameters[parameter].type;
    const int width = kernel::bits_of(type);
    if (width == 64) return same_bits(type, DType::u64, state_.parameters[parameter]);
    if (width < 32 && type != DType::bool_)
      return module_.make(Op::UConvert, module_.type(type), {state_.parameters[parameter]});
    const Id word = state_.half(parameter, false);
    return type == DType::bool_ ? module_.make(Op::INotEqual, module_.type(type), {word, u32(0)})
                                : same_bits(type, DType::u32, word);
  }

  Id builtin(spirv::BuiltIn which, Id type) {
    const auto [found, is_new] = builtins_.try_emplace(which, 0);
    if (is_new) {
      found->second = module_.variable(StorageClass::Input, module_.pointer(StorageClass::Input, type));
      module_.decorate(found->second, spirv::Decoration::BuiltIn, {static_cast<std::uint32_t>(which)});
    }
    return module_.make(Op::Load, type, {found->second});
  }

  Id vector3() { return module_.vector(module_.type(DType::u32), 3); }
  Id part(Id vector, std::uint32_t which) {
    return module_.make(Op::CompositeExtract, module_.type(DType::u32), {vector, which});
  }

  void note_float(DType type) {
    if (type == DType::f32) uses_f32_ = true;
    if (type == DType::f64) uses_f64_ = true;
  }

  // --- control flow ---

  void label(Id id) { module_.code().put(Op::Label, {id}); }
  void branch(Id to) { module_.code().put(Op::Branch, {to}); }

  void begin_loop(std::size_t i, const Instruction& loop) {
    Open open{.merge = module_.new_id(), .next = module_.new_id(), .is_loop = true, .type = loop.type};
    open.header = module_.new_id(), open.counter_after = module_.new_id(), open.step = id_of(loop.operands[2]);
    const Id before = module_.new_id(), body = module_.new_id(), type = module_.type(loop.type);
    branch(before);  // so that the counter's first value comes from a block of its own
    label(before);
    branch(open.header);
    label(open.header);
    open.counter = module_.make(Op::Phi, type, {id_of(loop.operands[0]), before, open.counter_after, open.next});
    ids_[i] = open.counter;
    const Id is_less = module_.make(kernel::is_signed(loop.type) ? Op::SLessThan : Op::ULessThan,
                                    module_.type(DType::bool_), {open.counter, id_of(loop.operands[1])});
    module_.code().put(Op::LoopMerge, {open.merge, open.next, 0});
    module_.code().put(Op::BranchConditional, {is_less, body, open.merge});
    label(body);
    open_.push_back(open);
  }

  void end_loop() {
    const auto open = take_open();
    branch(open.next);
    label(open.next);
    module_.code().put(Op::IAdd, {module_.type(open.type), open.counter_after, open.counter, open.step});
    branch(open.header);
    label(open.merge);
  }

  void break_when(Id condition) {
    const Id leave = module_.new_id(), stay = module_.new_id();
    module_.code().put(Op::SelectionMerge, {stay, 0});
    module_.code().put(Op::BranchConditional, {condition, leave, stay});
    label(leave);
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      if (!open->is_loop) continue;
      branch(open->merge);
      label(stay);
      return;
    }
    BURN_CHECK(false, "a break outside of loops");
  }

  void begin_when(std::size_t i, Id condition) {
    Open open{.merge = module_.new_id(), .next = module_.new_id()};
    open.has_otherwise = has_otherwise(i);
    const Id then = module_.new_id();
    module_.code().put(Op::SelectionMerge, {open.merge, 0});
    module_.code().put(Op::BranchConditional, {condition, then, open.has_otherwise ? open.next : open.merge});
    label(then);
    open_.push_back(open);
  }

  // Whether the branch that begins at `i` has another side.
  bool has_otherwise(std::size_t i) const {
    int depth = 0;
    for (++i; i < kernel_.body.size(); ++i) {
      const auto code = kernel_.body[i].code;
      if (code == Code::when) ++depth;
      if (code == Code::end_when && depth-- == 0) return false;
      if (code == Code::otherwise && depth == 0) return true;
    }
    return false;
  }

  Open take_open() {
    BURN_CHECK(!open_.empty(), "an end of nothing");
    const auto open = open_.back();
    open_.pop_back();
    return open;
  }

  // --- arithmetic ---

  Id converted(DType to, DType from, Id value) {
    const Id type = module_.type(to);
    if (ir::is_floating(from)) {
      if (ir::is_floating(to)) return module_.make(Op::FConvert, type, {value});
      return module_.make(kernel::is_signed(to) ? Op::ConvertFToS : Op::ConvertFToU, type, {value});
    }
    if (ir::is_floating(to))
      return module_.make(kernel::is_signed(from) ? Op::ConvertSToF : Op::ConvertUToF, type, {value});
    if (kernel::bits_of(from) == kernel::bits_of(to)) return value;
    return module_.make(kernel::is_signed(from) ? Op::SConvert : Op::UConvert, type, {value});
  }

  // Whole numbers of one size have one type in SPIR-V.
  Id same_bits(DType to, DType from, Id value) {
    if (!ir::is_floating(to) && !ir::is_floating(from)) return value;
    return module_.make(Op::Bitcast, module_.type(to), {value});
  }

  // --- instructions ---

  void put(std::size_t i) {
    const auto& now = kernel_.body[i];
    const auto operand = [&](int k) { return id_of(now.operands[static_cast<std::size_t>(k)]); };
    const auto operand_type = [&](int k) { return made(now.operands[static_cast<std::size_t>(k)]).type; };
    note_float(now.type);
    if (memory_.put(i)) return;
    switch (now.code) {
      case Code::constant:
        ids_[i] = module_.constant(now.type, now.number);
        return;
      case Code::parameter:
        ids_[i] = number_of(now.number);
        return;
      case Code::parameter_word:
        ids_[i] = state_.half(now.number / 2, now.number % 2 != 0);
        return;
      case Code::thread:
        ids_[i] = builtin(spirv::BuiltIn::LocalInvocationIndex, module_.type(DType::u32));
        return;
      case Code::block:
        ids_[i] = block(now.number);
        return;
      case Code::blocks:
        ids_[i] = part(builtin(spirv::BuiltIn::NumWorkgroups, vector3()), static_cast<std::uint32_t>(now.number));
        return;
      case Code::join: {
        const Id pair = module_.vector(module_.type(DType::u32), 2);
        ids_[i] = module_.make(Op::Bitcast, module_.type(DType::u64),
                               {module_.make(Op::CompositeConstruct, pair, {operand(0), operand(1)})});
        return;
      }
      case Code::variable:
        ids_[i] = module_.function_variable(module_.pointer(StorageClass::Function, module_.type(now.type)));
        module_.code().put(Op::Store, {ids_[i], operand(0)});
        return;
      case Code::get:
        ids_[i] = module_.make(Op::Load, module_.type(now.type), {operand(0)});
        return;
      case Code::set:
        module_.code().put(Op::Store, {operand(0), operand(1)});
        return;
      case Code::loop:
        return begin_loop(i, now);
      case Code::break_when:
        return break_when(operand(0));
      case Code::end_loop:
        return end_loop();
      case Code::when:
        return begin_when(i, operand(0));
      case Code::otherwise: {
        const auto& open = open_.back();
        branch(open.merge);
        return label(open.next);
      }
      case Code::end_when: {
        const auto open = take_open();
        branch(open.merge);
        return label(open.merge);
      }
      case Code::barrier:
        module_.code().put(Op::ControlBarrier,
                           {u32(spirv::kScopeWorkgroup), u32(spirv::kScopeWorkgroup),
                            u32(spirv::kBarrierSemantics | (now.number != 0 ? spirv::kStorageMemory : 0))});
        return;
      case Code::broadcast:
        module_.need(spirv::Capability::GroupNonUniform);
        module_.need(spirv::Capability::GroupNonUniformBallot);
        ids_[i] = module_.make(Op::GroupNonUniformBroadcast, module_.type(now.type),
                               {u32(spirv::kScopeSubgroup), operand(0), u32(static_cast<std::uint32_t>(now.number))});
        return;
      case Code::shuffle_xor:
        module_.need(spirv::Capability::GroupNonUniform);
        module_.need(spirv::Capability::GroupNonUniformShuffle);
        ids_[i] = module_.make(Op::GroupNonUniformShuffleXor, module_.type(now.type),
                               {u32(spirv::kScopeSubgroup), operand(0), u32(static_cast<std::uint32_t>(now.number))});
        return;
      case Code::fused_multiply_add:
        ids_[i] = module_.call(spirv::Function::Fma, module_.type(now.type), {operand(0), operand(1), operand(2)});
        return;
      case Code::select:
        ids_[i] = module_.make(Op::Select, module_.type(now.type), {operand(0), operand(1), operand(2)});
        return;
      case Code::convert:
        ids_[i] = converted(now.type, operand_type(0), operand(0));
        return;
      case Code::bits:
        ids_[i] = same_bits(now.type, operand_type(0), operand(0));
        return;
      case Code::round_even:
        if (now.type == DType::f64) {
          ids_[i] = spirv::round_even_f64(module_, operand(0));
          return;
        }
        [[fallthrough]];
      case Code::floor:
      case Code::ceil:
      case Code::trunc:
      case Code::sqrt:
      case Code::abs:
      case Code::exp2:
        ids_[i] = module_.call(spirv::function(now.code), module_.type(now.type), {operand(0)});
        return;
      case Code::rem:
        if (!kernel::is_signed(now.type)) break;
        ids_[i] = spirv::signed_remainder(module_, module_.type(now.type), operand(0), operand(1));
        return;
      default:
        break;
    }
    const auto op = spirv::operation(now.code, operand_type(0));
    ids_[i] = now.operands[1] < 0 ? module_.make(op, module_.type(now.type), {operand(0)})
                                  : module_.make(op, module_.type(now.type), {operand(0), operand(1)});
    if (ir::is_floating(now.type) && now.code != Code::neg) module_.decorate(ids_[i], spirv::Decoration::NoContraction);
  }

  Id block(std::uint64_t axis) {
    const Id at = builtin(spirv::BuiltIn::WorkgroupId, vector3());
    if (axis == 1) return part(at, 1);
    const Id width = part(builtin(spirv::BuiltIn::NumWorkgroups, vector3()), 0), type = module_.type(DType::u32);
    return module_.make(Op::IAdd, type, {part(at, 0), module_.make(Op::IMul, type, {part(at, 2), width})});
  }

  spirv::SpirvState state_;
  const kernel::Kernel& kernel_;
  const DeviceFacts& facts_;
  spirv::Module& module_ = state_.module;
  std::vector<Id>& ids_ = state_.ids;
  spirv::SpirvMemory memory_;
  std::map<spirv::BuiltIn, Id> builtins_;
  std::vector<Open> open_;
  bool uses_f32_ = false, uses_f64_ = false;
};

}  // namespace

std::vector<std::uint32_t> print_spirv(const kernel::Kernel& kernel, const DeviceFacts& facts) {
  return SpirvPrinter(kernel, facts).print();
}

}  // namespace burn::compile
