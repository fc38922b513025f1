#include "compile/codegen/dialects/spirv_module.h"

#include <cstring>

#include "compile/codegen/kernel/kernel.h"

namespace burn::compile::spirv {

void Section::put(Op op, std::span<const std::uint32_t> words) {
  words_.push_back(static_cast<std::uint32_t>(words.size() + 1) << 16 | static_cast<std::uint32_t>(op));
  words_.insert(words_.end(), words.begin(), words.end());
}

void Section::put(Op op, std::initializer_list<std::uint32_t> first, std::string_view text,
                  std::span<const std::uint32_t> rest) {
  std::vector<std::uint32_t> words(first);
  const auto begin = words.size();
  words.resize(begin + text.size() / 4 + 1);  // ends in at least one zero byte
  std::memcpy(words.data() + begin, text.data(), text.size());
  words.insert(words.end(), rest.begin(), rest.end());
  put(op, words);
}

Id Module::once(Op op, const std::vector<std::uint32_t>& operands, bool has_type) {
  const auto [found, is_new] = made_.try_emplace({op, operands}, 0);
  if (!is_new) return found->second;
  const Id id = found->second = new_id();
  auto words = operands;
  words.insert(words.begin() + (has_type ? 1 : 0), id);
  types_.put(op, words);
  return id;
}

Id Module::type(ir::DType dtype) {
  if (dtype == ir::DType::bool_) return once(Op::TypeBool, {});
  const auto width = static_cast<std::uint32_t>(kernel::bits_of(dtype));
  if (ir::is_floating(dtype)) {
    if (width == 64) need(Capability::Float64);
    return once(Op::TypeFloat, {width});
  }
  if (width == 8) need(Capability::Int8);
  if (width == 16) need(Capability::Int16);
  if (width == 64) need(Capability::Int64);
  return once(Op::TypeInt, {width, 0});
}

Id Module::small_float(ir::DType dtype) {
  if (dtype == ir::DType::f16) {
    need(Capability::Float16);
    return once(Op::TypeFloat, {16});
  }
  need(Capability::BFloat16Type);
  need(Capability::BFloat16CooperativeMatrix);
  need_extension("SPV_KHR_bfloat16");
  return once(Op::TypeFloat, {16, kBFloat16});
}

Id Module::matrix(Id element, std::uint32_t use) {
  need(Capability::CooperativeMatrix);
  need_extension("SPV_KHR_cooperative_matrix");
  const auto number = [&](std::uint32_t n) { return constant(ir::DType::u32, n); };
  const Id size = number(kernel::kTileSize);
  return once(Op::TypeCooperativeMatrix, {element, number(kScopeSubgroup), size, size, number(use)});
}

Id Module::filled(Id type, Id element) { return once(Op::ConstantComposite, {type, element}, true); }

Id Module::pointer(StorageClass storage, Id to) {
  return once(Op::TypePointer, {static_cast<std::uint32_t>(storage), to});
}
Id Module::array(Id element, std::int64_t count) {
  return once(Op::TypeArray, {element, constant(ir::DType::u32, static_cast<std::uint64_t>(count))});
}
Id Module::void_type() { return once(Op::TypeVoid, {}); }
Id Module::vector(Id of, std::uint32_t count) { return once(Op::TypeVector, {of, count}); }

Id Module::element_pointer(ir::DType element) {
  const auto bytes = ir::size_of(element);
  if (bytes == 1) need(Capability::StorageBuffer8BitAccess);
  if (bytes == 2) need(Capability::StorageBuffer16BitAccess);
  return pointer(StorageClass::PhysicalStorageBuffer, type(element));
}

Id Module::buffer_pointer(ir::DType element) {
  const auto [found, is_new] = buffer_pointers_.try_emplace(element, 0);
  if (!is_new) return found->second;
  const auto bytes = static_cast<std::uint32_t>(ir::size_of(element));
  const Id elements = new_id(), block = new_id();
  types_.put(Op::TypeRuntimeArray, {elements, type(element)});
  types_.put(Op::TypeStruct, {block, elements});
  decorate(elements, Decoration::ArrayStride, {bytes});
  decorate(block, Decoration::Block);
  decorate_member(block, 0, Decoration::Offset, {0});
  return found->second = pointer(StorageClass::PhysicalStorageBuffer, block);
}

Id Module::block_pointer(Id member) {
  const auto [found, is_new] = block_pointers_.try_emplace(member, 0);
  if (is_new) found->second = pointer(StorageClass::PhysicalStorageBuffer, push_block(member));
  return found->second;
}

Id Module::push_block(Id member) {
  const Id block = new_id();
  types_.put(Op::TypeStruct, {block, member});
  decorate(block, Decoration::Block);
  decorate_member(block, 0, Decoration::Offset, {0});
  return block;
}

Id Module::constant(ir::DType dtype, std::uint64_t bits) {
  const Id of = type(dtype);
  if (dtype == ir::DType::bool_) return once(bits != 0 ? Op::ConstantTrue : Op::ConstantFalse, {of}, true);
  if (kernel::bits_of(dtype) == 64)
    return once(Op::Constant, {of, static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)}, true);
  return once(Op::Constant, {of, static_cast<std::uint32_t>(bits)}, true);
}

Id Module::variable(StorageClass storage, Id pointer_type) {
  const Id id = new_id();
  types_.put(Op::Variable, {pointer_type, id, static_cast<std::uint32_t>(storage)});
  interface_.push_back(id);
  return id;
}

Id Module::function_variable(Id pointer_type) {
  const Id id = new_id();
  variables_.put(Op::Variable, {pointer_type, id, static_cast<std::uint32_t>(StorageClass::Function)});
  return id;
}

void Module::decorate(Id id, Decoration decoration, std::initializer_list<std::uint32_t> more) {
  std::vector<std::uint32_t> words{id, static_cast<std::uint32_t>(decoration)};
  words.insert(words.end(), more.begin(), more.end());
  decorations_.put(Op::Decorate, words);
}

void Module::decorate_member(Id id, std::uint32_t member, Decoration decoration,
                             std::initializer_list<std::uint32_t> more) {
  std::vector<std::uint32_t> words{id, member, static_cast<std::uint32_t>(decoration)};
  words.insert(words.end(), more.begin(), more.end());
  decorations_.put(Op::MemberDecorate, words);
}

Id Module::make(Op op, Id type, std::initializer_list<std::uint32_t> operands) {
  const Id id = new_id();
  std::vector<std::uint32_t> words{type, id};
  words.insert(words.end(), operands.begin(), operands.end());
  code_.put(op, words);
  return id;
}

Id Module::call(Function function, Id type, std::initializer_list<std::uint32_t> operands) {
  if (functions_ == 0) functions_ = new_id();
  const Id id = new_id();
  std::vector<std::uint32_t> words{type, id, functions_, static_cast<std::uint32_t>(function)};
  words.insert(words.end(), operands.begin(), operands.end());
  code_.put(Op::ExtInst, words);
  return id;
}

std::vector<std::uint32_t> Module::finish(int threads, std::span<const std::uint32_t> preserved) {
  need(Capability::Shader);
  need(Capability::PhysicalStorageBufferAddresses);
  need(Capability::VulkanMemoryModel);
  if (!preserved.empty()) need(Capability::SignedZeroInfNanPreserve);
  const Id nothing = void_type(), signature = once(Op::TypeFunction, {nothing}), main = new_id(), entry = new_id();
  Section head;
  for (const auto capability : capabilities_) head.put(Op::Capability, {static_cast<std::uint32_t>(capability)});
  for (const auto& extension : extensions_) head.put(Op::Extension, {}, extension);
  if (functions_ != 0) head.put(Op::ExtInstImport, {functions_}, "GLSL.std.450");
  head.put(Op::MemoryModel, {kPhysicalStorageBuffer64, kVulkanModel});
  head.put(Op::EntryPoint, {kGLCompute, main}, "main", interface_);
  head.put(Op::ExecutionMode, {main, kLocalSize, static_cast<std::uint32_t>(threads), 1, 1});
  for (const auto width : preserved) head.put(Op::ExecutionMode, {main, kPreserveMode, width});
  Section function;
  function.put(Op::Function, {nothing, main, 0, signature});
  function.put(Op::Label, {entry});
  std::vector<std::uint32_t> words{kMagic, kVersion, 0, last_id_ + 1, 0};
  for (const auto* section : {&head, &decorations_, &types_, &function, &variables_, &code_})
    words.insert(words.end(), section->words().begin(), section->words().end());
  Section end;
  end.put(Op::Return, {});
  end.put(Op::FunctionEnd, {});
  words.insert(words.end(), end.words().begin(), end.words().end());
  return words;
}

}  // namespace burn::compile::spirv
