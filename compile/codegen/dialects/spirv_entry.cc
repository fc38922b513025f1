#include "compile/codegen/dialects/spirv_entry.h"

#include "compile/codegen/dialects/spirv_parameters.h"

namespace burn::compile::spirv {

using ir::DType;
using kernel::Code;

void SpirvEntry::begin() {
  const auto& kernel = state_.kernel;
  loads_ = load_points(kernel);
  if (kernel.parameters.empty()) return;
  const auto unit = state_.has_int64 ? DType::u64 : DType::u32;
  const Id word = state_.module.type(unit), pushed = state_.has_int64 ? word : state_.module.vector(word, 2);
  const Id push = state_.module.variable(
      StorageClass::PushConstant, state_.module.pointer(StorageClass::PushConstant, state_.module.push_block(pushed)));
  const Id at = state_.module.make(Op::AccessChain, state_.module.pointer(StorageClass::PushConstant, pushed),
                                   {push, state_.u32(0)});
  const Id address = state_.module.make(Op::Load, pushed, {at});
  record_ = state_.module.make(state_.has_int64 ? Op::ConvertUToPtr : Op::Bitcast, state_.module.buffer_pointer(unit),
                               {address});
  (state_.has_int64 ? state_.parameters.resize(kernel.parameters.size())
                    : state_.halves.resize(kernel.parameters.size()));
  numbers_.resize(kernel.parameters.size());
  for (std::size_t i = 0; i < kernel.body.size(); ++i) {
    if (kernel.body[i].code == Code::parameter) numbers_[kernel.body[i].number].push_back(i);
  }
}

void SpirvEntry::load_before(std::size_t i) {
  if (loads_[i].empty()) return;
  const auto unit = state_.has_int64 ? DType::u64 : DType::u32;
  const Id word = state_.module.type(unit);
  const auto load = [&](std::uint64_t which) {
    const Id place =
        state_.module.make(Op::AccessChain, state_.module.pointer(StorageClass::PhysicalStorageBuffer, word),
                           {record_, state_.u32(0), state_.u32(static_cast<std::uint32_t>(which))});
    return state_.module.make(Op::Load, word, {place, kAligned, static_cast<std::uint32_t>(ir::size_of(unit))});
  };
  for (const auto k : loads_[i]) {
    if (state_.has_int64) {
      state_.parameters[k] = load(k);
    } else {
      const Id lower = load(2 * k);
      state_.halves[k] = {lower, load(2 * k + 1)};
    }
    for (const auto number : numbers_[k]) state_.ids[number] = number_of(k);
  }
}

Id SpirvEntry::number_of(std::size_t parameter) {
  const auto type = state_.kernel.parameters[parameter].type;
  const int width = kernel::bits_of(type);
  if (width == 64) return state_.same_bits(type, DType::u64, state_.parameters[parameter]);
  if (width < 32 && type != DType::bool_)
    return state_.module.make(Op::UConvert, state_.module.type(type), {state_.parameters[parameter]});
  const Id word = state_.half(parameter, false);
  return type == DType::bool_ ? state_.module.make(Op::INotEqual, state_.module.type(type), {word, state_.u32(0)})
                              : state_.same_bits(type, DType::u32, word);
}

Id SpirvEntry::builtin(BuiltIn which, Id type) {
  const auto [found, is_new] = builtins_.try_emplace(which, 0);
  if (is_new) {
    found->second = state_.module.variable(StorageClass::Input, state_.module.pointer(StorageClass::Input, type));
    state_.module.decorate(found->second, Decoration::BuiltIn, {static_cast<std::uint32_t>(which)});
  }
  return state_.module.make(Op::Load, type, {found->second});
}

Id SpirvEntry::vector3() { return state_.module.vector(state_.module.type(DType::u32), 3); }
Id SpirvEntry::part(Id vector, std::uint32_t which) {
  return state_.module.make(Op::CompositeExtract, state_.module.type(DType::u32), {vector, which});
}

Id SpirvEntry::block(std::uint64_t axis) {
  const Id at = builtin(BuiltIn::WorkgroupId, vector3());
  if (axis == 1) return part(at, 1);
  const Id width = part(builtin(BuiltIn::NumWorkgroups, vector3()), 0), type = state_.module.type(DType::u32);
  return state_.module.make(Op::IAdd, type, {part(at, 0), state_.module.make(Op::IMul, type, {part(at, 2), width})});
}

bool SpirvEntry::put(std::size_t i) {
  const auto& now = state_.kernel.body[i];
  switch (now.code) {
    case Code::parameter:  // load_before() its first use
      return true;
    case Code::parameter_word:
      state_.ids[i] = state_.half(now.number / 2, now.number % 2 != 0);
      return true;
    case Code::thread:
      state_.ids[i] = builtin(BuiltIn::LocalInvocationIndex, state_.module.type(DType::u32));
      return true;
    case Code::block:
      state_.ids[i] = block(now.number);
      return true;
    case Code::blocks:
      state_.ids[i] = part(builtin(BuiltIn::NumWorkgroups, vector3()), static_cast<std::uint32_t>(now.number));
      return true;
    default:
      return false;
  }
}

}  // namespace burn::compile::spirv
