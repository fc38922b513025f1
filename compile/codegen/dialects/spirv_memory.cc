#include "compile/codegen/dialects/spirv_memory.h"

namespace burn::compile::spirv {
namespace {

using ir::DType;
using kernel::Code;

constexpr std::uint32_t kPackBytes = 16;
std::uint32_t alignment(DType type) { return static_cast<std::uint32_t>(ir::size_of(type)); }

}  // namespace

SpirvMemory::SpirvMemory(SpirvState& state) : state_(state) {
  for (const auto& instruction : state.kernel.body) {
    orders_memory_ = orders_memory_ || (instruction.code == Code::barrier && instruction.number != 0);
    if (instruction.code == Code::load_shared_pack || instruction.code == Code::store_shared_pack)
      packed_.insert(instruction.number);
  }
}

Id SpirvMemory::index(std::int32_t value) {
  const auto type = state_.made(value).type;
  if (kernel::bits_of(type) == 64) return state_.id_of(value);
  return state_.module.make(kernel::is_signed(type) ? Op::SConvert : Op::UConvert, state_.module.type(DType::u64),
                            {state_.id_of(value)});
}

// By a sum of addresses and not by the index of an array: a view whose strides are negative begins at its last
// element, and drivers take an index below 0 for a large one.
Id SpirvMemory::element(const Instruction& instruction) {
  const auto type = kernel::memory_type(state_.kernel.parameters[instruction.number].type);
  return element_as(state_.module.element_pointer(type), instruction);
}
Id SpirvMemory::element_as(Id pointer, const Instruction& instruction) {
  if (!state_.has_int64) return state_.module.make(Op::Bitcast, pointer, {address_in_halves(instruction)});
  const auto& parameter = state_.kernel.parameters[instruction.number];
  const auto number = [&](std::uint64_t n) { return state_.module.constant(DType::u64, n); };
  const Id word = state_.module.type(DType::u64), at = index(instruction.operands[0]);
  const Id bytes = state_.module.make(Op::IMul, word, {at, number(alignment(kernel::memory_type(parameter.type)))});
  Id begin = state_.parameters[instruction.number];
  if (parameter.is_in_words) begin = state_.module.make(Op::BitwiseAnd, word, {begin, number(~std::uint64_t{3})});
  const Id address = state_.module.make(Op::IAdd, word, {begin, bytes});
  return state_.module.make(Op::ConvertUToPtr, pointer, {address});
}

// The index is a number of 32 bits, of elements of as many: its lower 30 bits are an offset in the lower half.
Id SpirvMemory::address_in_halves(const Instruction& instruction) {
  auto& module = state_.module;
  const Id word = module.type(DType::u32), at = state_.id_of(instruction.operands[0]);
  const bool has_sign = kernel::is_signed(state_.made(instruction.operands[0]).type);
  Id begin = state_.half(instruction.number, false);
  if (state_.kernel.parameters[instruction.number].is_in_words)
    begin = module.make(Op::BitwiseAnd, word, {begin, state_.u32(~std::uint32_t{3})});
  const Id below = module.make(Op::ShiftLeftLogical, word, {at, state_.u32(2)});
  const Id above = module.make(has_sign ? Op::ShiftRightArithmetic : Op::ShiftRightLogical, word, {at, state_.u32(30)});
  const Id low = module.make(Op::IAdd, word, {begin, below});
  const Id is_over = module.make(Op::ULessThan, module.type(DType::bool_), {low, begin});
  const Id over = module.make(Op::Select, word, {is_over, state_.u32(1), state_.u32(0)});
  const Id high = module.make(Op::IAdd, word, {state_.half(instruction.number, true), above});
  return module.make(Op::CompositeConstruct, module.vector(word, 2), {low, module.make(Op::IAdd, word, {high, over})});
}

// The bits of the mask are cleared and then set: no thread reads them in between, that would be a race.
void SpirvMemory::store_bits(const Instruction& now) {
  auto& module = state_.module;
  const Id word = module.type(DType::u32), place = element(now);
  const Id scope = state_.u32(spirv::kScopeQueueFamily), order = state_.u32(0);
  const Id others = module.make(Op::Not, word, {state_.id_of(now.operands[2])});
  module.make(Op::AtomicAnd, word, {place, scope, order, others});
  module.make(Op::AtomicOr, word, {place, scope, order, state_.id_of(now.operands[1])});
}

Id SpirvMemory::pack_type() { return state_.module.vector(state_.module.type(DType::u32), 4); }
// As the member of a block, which is how compilers of GLSL write it.
Id SpirvMemory::pack_at(const Instruction& instruction) {
  const Id block = element_as(state_.module.block_pointer(pack_type()), instruction);
  const Id member = state_.module.pointer(StorageClass::PhysicalStorageBuffer, pack_type());
  return state_.module.make(Op::AccessChain, member, {block, state_.u32(0)});
}
Id SpirvMemory::pack_of(const Instruction& now) {
  const Id pair = state_.module.vector(state_.module.type(DType::u32), 2);
  const Id low = state_.module.make(Op::Bitcast, pair, {state_.id_of(now.operands[1])});
  const Id high = state_.module.make(Op::Bitcast, pair, {state_.id_of(now.operands[2])});
  return state_.module.make(Op::CompositeConstruct, pack_type(), {low, high});
}

Id SpirvMemory::shared_element(const Instruction& instruction) {
  const Id array = shared_array(instruction.number),
           type = state_.module.type(state_.kernel.shared[instruction.number].type);
  const Id pointer = state_.module.pointer(StorageClass::Workgroup, type), at = state_.id_of(instruction.operands[0]);
  if (!packed_.contains(instruction.number)) return state_.module.make(Op::AccessChain, pointer, {array, at});
  const Id index = state_.module.type(DType::u32);
  const Id lane = state_.module.make(Op::BitwiseAnd, index, {at, state_.u32(3)});
  return state_.module.make(Op::AccessChain, pointer, {array, shared_pack_index(at), lane});
}
Id SpirvMemory::shared_pack(std::uint64_t array, Id index) {
  const Id pack = state_.module.vector(state_.module.type(state_.kernel.shared[array].type), 4);
  return state_.module.make(Op::AccessChain, state_.module.pointer(StorageClass::Workgroup, pack),
                            {shared_array(array), shared_pack_index(index)});
}
Id SpirvMemory::shared_pack_index(Id element) {
  return state_.module.make(Op::ShiftRightLogical, state_.module.type(DType::u32), {element, state_.u32(2)});
}
Id SpirvMemory::shared_array(std::uint64_t which) {
  const auto [found, is_new] = shared_.try_emplace(which, 0);
  if (!is_new) return found->second;
  const auto& array = state_.kernel.shared[which];
  const Id element = state_.module.type(array.type);
  const Id all = packed_.contains(which) ? state_.module.array(state_.module.vector(element, 4), (array.count + 3) / 4)
                                         : state_.module.array(element, array.count);
  return found->second =
             state_.module.variable(StorageClass::Workgroup, state_.module.pointer(StorageClass::Workgroup, all));
}

std::uint32_t SpirvMemory::memory_access() const { return spirv::kAligned | (orders_memory_ ? spirv::kNonPrivate : 0); }

Id SpirvMemory::sums_type() { return state_.module.matrix(state_.module.type(DType::f32), spirv::kMatrixAccumulator); }

bool SpirvMemory::put_tile(std::size_t i) {
  const auto& now = state_.kernel.body[i];
  const auto operand = [&](std::size_t k) { return state_.id_of(now.operands[k]); };
  switch (now.code) {
    case Code::tile_sums:
      state_.ids[i] = state_.module.function_variable(state_.module.pointer(StorageClass::Function, sums_type()));
      state_.module.code().put(
          Op::Store, {state_.ids[i], state_.module.filled(sums_type(), state_.module.constant(DType::f32, 0))});
      return true;
    case Code::tile_load: {
      const auto what = kernel::TileLoad::of(now.number);
      const Id type =
          state_.module.matrix(state_.module.small_float(now.type), what.is_second ? spirv::kMatrixB : spirv::kMatrixA);
      const Id layout = state_.u32(what.has_columns_apart ? spirv::kColumnMajor : spirv::kRowMajor);
      const Id from = shared_pack(static_cast<std::uint64_t>(what.array), operand(0));
      state_.ids[i] = state_.module.make(Op::CooperativeMatrixLoad, type,
                                         {from, layout, shared_pack_index(operand(1)), spirv::kNonPrivate});
      return true;
    }
    case Code::tile_multiply: {
      const Id before = state_.module.make(Op::Load, sums_type(), {operand(0)});
      const Id after = state_.module.make(Op::CooperativeMatrixMulAdd, sums_type(), {operand(1), operand(2), before});
      state_.module.code().put(Op::Store, {operand(0), after});
      return true;
    }
    case Code::tile_store: {
      const bool is_packed = packed_.contains(now.number);
      const Id to = is_packed ? shared_pack(now.number, operand(0)) : shared_element(now);
      const Id step = is_packed ? shared_pack_index(operand(1)) : operand(1);
      const Id sums = state_.module.make(Op::Load, sums_type(), {operand(2)});
      state_.module.code().put(Op::CooperativeMatrixStore,
                               {to, sums, state_.u32(spirv::kRowMajor), step, spirv::kNonPrivate});
      return true;
    }
    default:
      return false;
  }
}

bool SpirvMemory::put(std::size_t i) {
  const auto& now = state_.kernel.body[i];
  const auto operand = [&](std::size_t k) { return state_.id_of(now.operands[k]); };
  switch (now.code) {
    case Code::load:
      state_.ids[i] = state_.module.make(Op::Load, state_.module.type(now.type),
                                         {element(now), memory_access(), alignment(now.type)});
      return true;
    case Code::store:
      state_.module.code().put(Op::Store, {element(now), operand(1), memory_access(), alignment(now.type)});
      return true;
    case Code::atomic_add:
      state_.ids[i] =
          state_.module.make(Op::AtomicIAdd, state_.module.type(now.type),
                             {element(now), state_.u32(spirv::kScopeQueueFamily), state_.u32(0), operand(1)});
      return true;
    case Code::store_bits:
      store_bits(now);
      return true;
    case Code::load_shared:
      state_.ids[i] =
          state_.module.make(Op::Load, state_.module.type(now.type), {shared_element(now), spirv::kNonPrivate});
      return true;
    case Code::store_shared:
      state_.module.code().put(Op::Store, {shared_element(now), operand(1), spirv::kNonPrivate});
      return true;
    case Code::load_wide:
      state_.ids[i] = state_.module.make(
          Op::Load, state_.module.type(now.type),
          {element_as(state_.module.element_pointer(now.type), now), memory_access(), alignment(now.type)});
      return true;
    case Code::store_wide:
      state_.module.code().put(Op::Store, {element_as(state_.module.element_pointer(now.type), now), operand(1),
                                           memory_access(), alignment(now.type)});
      return true;
    case Code::load_pack:
      state_.ids[i] = state_.module.make(Op::Load, pack_type(), {pack_at(now), memory_access(), kPackBytes});
      return true;
    case Code::store_pack:
      state_.module.code().put(Op::Store, {pack_at(now), pack_of(now), memory_access(), kPackBytes});
      return true;
    case Code::load_shared_pack:
      state_.ids[i] = state_.module.make(Op::Load, state_.module.vector(state_.module.type(now.type), 4),
                                         {shared_pack(now.number, operand(0)), spirv::kNonPrivate});
      return true;
    case Code::store_shared_pack: {
      const auto type = state_.kernel.shared[now.number].type;
      Id pack = pack_of(now);
      if (type != DType::u32)
        pack = state_.module.make(Op::Bitcast, state_.module.vector(state_.module.type(type), 4), {pack});
      state_.module.code().put(Op::Store, {shared_pack(now.number, operand(0)), pack, spirv::kNonPrivate});
      return true;
    }
    case Code::word:
      state_.ids[i] = state_.module.make(Op::CompositeExtract, state_.module.type(now.type),
                                         {operand(0), static_cast<std::uint32_t>(now.number)});
      return true;
    default:
      return put_tile(i);
  }
}

}  // namespace burn::compile::spirv
