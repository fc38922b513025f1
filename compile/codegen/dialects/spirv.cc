#include "compile/codegen/dialects/spirv.h"

#include "compile/codegen/dialects/spirv_entry.h"
#include "compile/codegen/dialects/spirv_flow.h"
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
      : state_{.kernel = kernel, .has_int64 = facts.has_int64},
        kernel_(kernel),
        facts_(facts),
        entry_(state_),
        flow_(state_),
        memory_(state_) {}

  std::vector<std::uint32_t> print() {
    entry_.begin();
    ids_.resize(kernel_.body.size());
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) {
      entry_.load_before(i);
      put(i);
    }
    std::vector<std::uint32_t> preserved;
    if (facts_.keeps_nan_f32 && uses_f32_) preserved.push_back(32);
    if (facts_.keeps_nan_f64 && uses_f64_) preserved.push_back(64);
    return module_.finish(kernel_.threads, preserved);
  }

 private:
  const Instruction& made(std::int32_t id) const { return state_.made(id); }
  Id id_of(std::int32_t id) const { return state_.id_of(id); }

  Id u32(std::uint32_t number) { return state_.u32(number); }

  void note_float(DType type) {
    if (type == DType::f32) uses_f32_ = true;
    if (type == DType::f64) uses_f64_ = true;
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

  // --- instructions ---

  // Prints instruction `i` if it is about a variable. False: it is none of these.
  bool put_variable(std::size_t i) {
    const auto& now = kernel_.body[i];
    const auto operand = [&](int k) { return id_of(now.operands[static_cast<std::size_t>(k)]); };
    switch (now.code) {
      case Code::variable:
        ids_[i] = module_.function_variable(module_.pointer(StorageClass::Function, module_.type(now.type)));
        module_.code().put(Op::Store, {ids_[i], operand(0)});
        return true;
      case Code::get:
        ids_[i] = module_.make(Op::Load, module_.type(now.type), {operand(0)});
        return true;
      case Code::set:
        module_.code().put(Op::Store, {operand(0), operand(1)});
        return true;
      default:
        return false;
    }
  }

  // Prints instruction `i` if threads wait for each other there or give each other numbers. False: it is none of these.
  bool put_between_threads(std::size_t i) {
    const auto& now = kernel_.body[i];
    const auto operand = [&](int k) { return id_of(now.operands[static_cast<std::size_t>(k)]); };
    switch (now.code) {
      case Code::barrier:
        module_.code().put(Op::ControlBarrier,
                           {u32(spirv::kScopeWorkgroup), u32(spirv::kScopeWorkgroup),
                            u32(spirv::kBarrierSemantics | (now.number != 0 ? spirv::kStorageMemory : 0))});
        return true;
      case Code::broadcast:
        module_.need(spirv::Capability::GroupNonUniform);
        module_.need(spirv::Capability::GroupNonUniformBallot);
        ids_[i] = module_.make(Op::GroupNonUniformBroadcast, module_.type(now.type),
                               {u32(spirv::kScopeSubgroup), operand(0), u32(static_cast<std::uint32_t>(now.number))});
        return true;
      case Code::shuffle_xor:
        module_.need(spirv::Capability::GroupNonUniform);
        module_.need(spirv::Capability::GroupNonUniformShuffle);
        ids_[i] = module_.make(Op::GroupNonUniformShuffleXor, module_.type(now.type),
                               {u32(spirv::kScopeSubgroup), operand(0), u32(static_cast<std::uint32_t>(now.number))});
        return true;
      default:
        return false;
    }
  }

  void put(std::size_t i) {
    const auto& now = kernel_.body[i];
    const auto operand = [&](int k) { return id_of(now.operands[static_cast<std::size_t>(k)]); };
    const auto operand_type = [&](int k) { return made(now.operands[static_cast<std::size_t>(k)]).type; };
    note_float(now.type);
    if (entry_.put(i) || flow_.put(i) || memory_.put(i) || put_variable(i) || put_between_threads(i)) return;
    switch (now.code) {
      case Code::constant:
        ids_[i] = module_.constant(now.type, now.number);
        return;
      case Code::join: {
        const Id pair = module_.vector(module_.type(DType::u32), 2);
        ids_[i] = module_.make(Op::Bitcast, module_.type(DType::u64),
                               {module_.make(Op::CompositeConstruct, pair, {operand(0), operand(1)})});
        return;
      }
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
        ids_[i] = state_.same_bits(now.type, operand_type(0), operand(0));
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

  spirv::SpirvState state_;
  const kernel::Kernel& kernel_;
  const DeviceFacts& facts_;
  spirv::Module& module_ = state_.module;
  std::vector<Id>& ids_ = state_.ids;
  spirv::SpirvEntry entry_;
  spirv::SpirvFlow flow_;
  spirv::SpirvMemory memory_;
  bool uses_f32_ = false, uses_f64_ = false;
};

}  // namespace

std::vector<std::uint32_t> print_spirv(const kernel::Kernel& kernel, const DeviceFacts& facts) {
  return SpirvPrinter(kernel, facts).print();
}

}  // namespace burn::compile
