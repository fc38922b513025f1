#include "compile/codegen/dialects/spirv.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "compile/codegen/dialects/spirv_module.h"
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
      : kernel_(kernel),
        facts_(facts),
        orders_memory_(std::ranges::any_of(kernel.body, [](const Instruction& instruction) {
          return instruction.code == Code::barrier && instruction.number != 0;
        })) {
    for (const auto& instruction : kernel.body) {
      if (instruction.code == Code::load_shared_pack || instruction.code == Code::store_shared_pack)
        packed_.insert(instruction.number);
    }
  }

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

  const Instruction& made(std::int32_t id) const { return kernel_.body[static_cast<std::size_t>(id)]; }
  Id id_of(std::int32_t id) const { return ids_[static_cast<std::size_t>(id)]; }

  Id u32(std::uint32_t number) { return module_.constant(DType::u32, number); }

  // --- entry ---

  // Words of the argument record, in the function's first block.
  void load_parameters() {
    if (kernel_.parameters.empty()) return;
    const Id word = module_.type(DType::u64), block = module_.push_block(word);
    const Id push = module_.variable(StorageClass::PushConstant, module_.pointer(StorageClass::PushConstant, block));
    const Id at = module_.make(Op::AccessChain, module_.pointer(StorageClass::PushConstant, word), {push, u32(0)});
    const Id record =
        module_.make(Op::ConvertUToPtr, module_.buffer_pointer(DType::u64), {module_.make(Op::Load, word, {at})});
    const Id in_record = module_.pointer(StorageClass::PhysicalStorageBuffer, word);
    for (std::size_t k = 0; k < kernel_.parameters.size(); ++k) {
      const auto& parameter = kernel_.parameters[k];
      const Id place = module_.make(Op::AccessChain, in_record, {record, u32(0), u32(static_cast<std::uint32_t>(k))});
      const Id loaded = module_.make(Op::Load, word, {place, spirv::kAligned, 8});
      parameters_.push_back(parameter.is_address ? loaded : number_of_word(parameter.type, loaded));
    }
  }

  Id number_of_word(DType type, Id word) {
    if (type == DType::bool_)
      return module_.make(Op::INotEqual, module_.type(type), {word, module_.constant(DType::u64, 0)});
    const int width = kernel::bits_of(type);
    if (!ir::is_floating(type)) return width == 64 ? word : module_.make(Op::UConvert, module_.type(type), {word});
    note_float(type);
    const Id bits = width == 64 ? word : module_.make(Op::UConvert, module_.type(DType::u32), {word});
    return module_.make(Op::Bitcast, module_.type(type), {bits});
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

  // --- memory ---

  // An index of 64 bits.
  Id index(std::int32_t value) {
    const auto type = made(value).type;
    if (kernel::bits_of(type) == 64) return id_of(value);
    return module_.make(kernel::is_signed(type) ? Op::SConvert : Op::UConvert, module_.type(DType::u64),
                        {id_of(value)});
  }

  // By a sum of addresses and not by the index of an array: a view whose strides are negative begins at its last
  // element, and drivers take an index below 0 for a large one.
  Id element(const Instruction& instruction) {
    const auto type = kernel::memory_type(kernel_.parameters[instruction.number].type);
    return element_as(module_.element_pointer(type), instruction);
  }
  Id element_as(Id pointer, const Instruction& instruction) {
    const auto type = kernel::memory_type(kernel_.parameters[instruction.number].type);
    const Id word = module_.type(DType::u64), at = index(instruction.operands[0]);
    const Id bytes = module_.make(Op::IMul, word, {at, module_.constant(DType::u64, alignment(type))});
    const Id address = module_.make(Op::IAdd, word, {parameters_[instruction.number], bytes});
    return module_.make(Op::ConvertUToPtr, pointer, {address});
  }

  // Sixteen bytes as words of 32 bits.
  Id pack_type() { return module_.vector(module_.type(DType::u32), 4); }
  Id pack_pointer() { return module_.pointer(StorageClass::PhysicalStorageBuffer, pack_type()); }
  void store_pack(const Instruction& now) {
    module_.code().put(Op::Store, {element_as(pack_pointer(), now), pack_of(now), memory_access(), kPackBytes});
  }
  // Of its halves.
  Id pack_of(const Instruction& now) {
    const Id pair = module_.vector(module_.type(DType::u32), 2);
    const Id low = module_.make(Op::Bitcast, pair, {id_of(now.operands[1])});
    const Id high = module_.make(Op::Bitcast, pair, {id_of(now.operands[2])});
    return module_.make(Op::CompositeConstruct, pack_type(), {low, high});
  }

  Id shared_element(const Instruction& instruction) {
    const Id array = shared_array(instruction.number), type = module_.type(kernel_.shared[instruction.number].type);
    const Id pointer = module_.pointer(StorageClass::Workgroup, type), at = id_of(instruction.operands[0]);
    if (!packed_.contains(instruction.number)) return module_.make(Op::AccessChain, pointer, {array, at});
    const Id index = module_.type(DType::u32);
    const Id lane = module_.make(Op::BitwiseAnd, index, {at, u32(3)});
    return module_.make(Op::AccessChain, pointer, {array, shared_pack_index(at), lane});
  }
  Id shared_pack(std::uint64_t array, Id index) {
    const Id pack = module_.vector(module_.type(kernel_.shared[array].type), 4);
    return module_.make(Op::AccessChain, module_.pointer(StorageClass::Workgroup, pack),
                        {shared_array(array), shared_pack_index(index)});
  }
  Id shared_pack_index(Id element) {
    return module_.make(Op::ShiftRightLogical, module_.type(DType::u32), {element, u32(2)});
  }
  // An array that is read in packs is one of vectors.
  Id shared_array(std::uint64_t which) {
    const auto [found, is_new] = shared_.try_emplace(which, 0);
    if (!is_new) return found->second;
    const auto& array = kernel_.shared[which];
    const Id element = module_.type(array.type);
    const Id all = packed_.contains(which) ? module_.array(module_.vector(element, 4), (array.count + 3) / 4)
                                           : module_.array(element, array.count);
    return found->second = module_.variable(StorageClass::Workgroup, module_.pointer(StorageClass::Workgroup, all));
  }

  // Where threads of a block read what others have written to memory, accesses take part in that order.
  std::uint32_t memory_access() const { return spirv::kAligned | (orders_memory_ ? spirv::kNonPrivate : 0); }
  static constexpr std::uint32_t kPackBytes = 16;
  static std::uint32_t alignment(DType type) { return static_cast<std::uint32_t>(ir::size_of(type)); }

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

  // Vulkan leaves OpSRem undefined where an operand is below 0.
  Id signed_remainder(Id type, Id a, Id b) {
    const Id whole = module_.make(Op::IMul, type, {module_.make(Op::SDiv, type, {a, b}), b});
    return module_.make(Op::ISub, type, {a, whole});
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
    switch (now.code) {
      case Code::constant:
        ids_[i] = module_.constant(now.type, now.number);
        return;
      case Code::parameter:
        ids_[i] = parameters_[now.number];
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
      case Code::load:
        ids_[i] = module_.make(Op::Load, module_.type(now.type), {element(now), memory_access(), alignment(now.type)});
        return;
      case Code::store:
        module_.code().put(Op::Store, {element(now), operand(1), memory_access(), alignment(now.type)});
        return;
      case Code::atomic_add:
        ids_[i] = module_.make(Op::AtomicIAdd, module_.type(now.type),
                               {element(now), u32(spirv::kScopeQueueFamily), u32(0), operand(1)});
        return;
      case Code::load_shared:
        ids_[i] = module_.make(Op::Load, module_.type(now.type), {shared_element(now), spirv::kNonPrivate});
        return;
      case Code::store_shared:
        module_.code().put(Op::Store, {shared_element(now), operand(1), spirv::kNonPrivate});
        return;
      case Code::load_wide:
        ids_[i] =
            module_.make(Op::Load, module_.type(now.type),
                         {element_as(module_.element_pointer(now.type), now), memory_access(), alignment(now.type)});
        return;
      case Code::store_wide:
        module_.code().put(Op::Store, {element_as(module_.element_pointer(now.type), now), operand(1), memory_access(),
                                       alignment(now.type)});
        return;
      case Code::load_pack:
        ids_[i] = module_.make(Op::Load, pack_type(), {element_as(pack_pointer(), now), memory_access(), kPackBytes});
        return;
      case Code::store_pack:
        return store_pack(now);
      case Code::load_shared_pack:
        ids_[i] = module_.make(Op::Load, module_.vector(module_.type(now.type), 4),
                               {shared_pack(now.number, operand(0)), spirv::kNonPrivate});
        return;
      case Code::store_shared_pack:
        module_.code().put(Op::Store, {shared_pack(now.number, operand(0)), pack_of(now), spirv::kNonPrivate});
        return;
      case Code::tile_sums:
      case Code::tile_load:
      case Code::tile_multiply:
      case Code::tile_store:
        return put_tile(i, now);
      case Code::word:
        ids_[i] = module_.make(Op::CompositeExtract, module_.type(now.type),
                               {operand(0), static_cast<std::uint32_t>(now.number)});
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
      case Code::floor:
      case Code::ceil:
      case Code::round_even:
      case Code::trunc:
      case Code::sqrt:
      case Code::abs:
        ids_[i] = module_.call(spirv::function(now.code), module_.type(now.type), {operand(0)});
        return;
      case Code::rem:
        if (!kernel::is_signed(now.type)) break;
        ids_[i] = signed_remainder(module_.type(now.type), operand(0), operand(1));
        return;
      default:
        break;
    }
    const auto op = spirv::operation(now.code, operand_type(0));
    ids_[i] = now.operands[1] < 0 ? module_.make(op, module_.type(now.type), {operand(0)})
                                  : module_.make(op, module_.type(now.type), {operand(0), operand(1)});
    if (ir::is_floating(now.type) && now.code != Code::neg) module_.decorate(ids_[i], spirv::Decoration::NoContraction);
  }

  // --- tiles ---

  Id sums_type() { return module_.matrix(module_.type(DType::f32), spirv::kMatrixAccumulator); }

  void put_tile(std::size_t i, const Instruction& now) {
    const auto operand = [&](std::size_t k) { return id_of(now.operands[k]); };
    switch (now.code) {
      case Code::tile_sums:
        ids_[i] = module_.function_variable(module_.pointer(StorageClass::Function, sums_type()));
        module_.code().put(Op::Store, {ids_[i], module_.filled(sums_type(), module_.constant(DType::f32, 0))});
        return;
      case Code::tile_load: {
        const auto what = kernel::TileLoad::of(now.number);
        const Id type =
            module_.matrix(module_.small_float(now.type), what.is_second ? spirv::kMatrixB : spirv::kMatrixA);
        const Id layout = u32(what.has_columns_apart ? spirv::kColumnMajor : spirv::kRowMajor);
        const Id from = shared_pack(static_cast<std::uint64_t>(what.array), operand(0));
        ids_[i] = module_.make(Op::CooperativeMatrixLoad, type,
                               {from, layout, shared_pack_index(operand(1)), spirv::kNonPrivate});
        return;
      }
      case Code::tile_multiply: {
        const Id before = module_.make(Op::Load, sums_type(), {operand(0)});
        const Id after = module_.make(Op::CooperativeMatrixMulAdd, sums_type(), {operand(1), operand(2), before});
        module_.code().put(Op::Store, {operand(0), after});
        return;
      }
      default: {
        const Id element = module_.pointer(StorageClass::Workgroup, module_.type(DType::f32));
        const Id to = module_.make(Op::AccessChain, element, {shared_array(now.number), operand(0)});
        const Id sums = module_.make(Op::Load, sums_type(), {operand(2)});
        module_.code().put(Op::CooperativeMatrixStore,
                           {to, sums, u32(spirv::kRowMajor), operand(1), spirv::kNonPrivate});
      }
    }
  }

  Id block(std::uint64_t axis) {
    const Id at = builtin(spirv::BuiltIn::WorkgroupId, vector3());
    if (axis == 1) return part(at, 1);
    const Id width = part(builtin(spirv::BuiltIn::NumWorkgroups, vector3()), 0), type = module_.type(DType::u32);
    return module_.make(Op::IAdd, type, {part(at, 0), module_.make(Op::IMul, type, {part(at, 2), width})});
  }

  const kernel::Kernel& kernel_;
  const DeviceFacts& facts_;
  const bool orders_memory_;
  spirv::Module module_;
  std::vector<Id> ids_;         // of the kernel's values
  std::vector<Id> parameters_;  // addresses and numbers
  std::map<spirv::BuiltIn, Id> builtins_;
  std::map<std::uint64_t, Id> shared_;
  std::set<std::uint64_t> packed_;  // shared arrays
  std::vector<Open> open_;
  bool uses_f32_ = false, uses_f64_ = false;
};

}  // namespace

std::vector<std::uint32_t> print_spirv(const kernel::Kernel& kernel, const DeviceFacts& facts) {
  return SpirvPrinter(kernel, facts).print();
}

}  // namespace burn::compile
