#include "compile/codegen/kernel/legal_memory.h"

namespace burn::compile::kernel {
namespace {

using enum ir::DType;

Value as_offset(Value at) { return bits_of(at.type) == 64 ? to(i32, at) : bits_as(i32, at); }
Value as_index(Value at) { return bits_of(at.type) == 64 ? to(u32, at) : bits_as(u32, at); }

}  // namespace

ir::DType LegalTypes::legal(ir::DType type) const {
  if (!is_narrow(type)) return type;
  return is_signed(type) ? i32 : u32;
}

Value LegalTypes::narrowed(ir::DType type, Value word) {
  const int width = bits_of(type);
  if (!is_signed(type)) return bits_as(u32, word) & ((std::int64_t{1} << width) - 1);
  return bits_as(i32, word) << (32 - width) >> (32 - width);
}

Value LegalTypes::narrow_constant(Writer& writer, const Instruction& constant) {
  const int width = bits_of(constant.type);
  const auto bits = static_cast<std::int64_t>(constant.number);
  const bool is_negative = is_signed(constant.type) && (bits >> (width - 1)) != 0;
  return writer.constant(is_signed(constant.type) ? i32 : u32, is_negative ? bits - (std::int64_t{1} << width) : bits);
}

LegalMemory::LegalMemory(const Kernel& from, const LegalTypes& types, Writer& writer)
    : from_(from), types_(types), writer_(writer) {
  for (const auto& array : from.shared) {
    if (types_.is_wide(array.type))
      writer_.shared(u32, array.count * 2);
    else
      writer_.shared(types_.legal(array.type), array.count);
  }
}

Kernel LegalMemory::with_parameters(Kernel kernel) const {
  kernel.parameters.clear();
  for (const auto& parameter : from_.parameters) kernel.parameters.push_back(legal_parameter(parameter));
  return kernel;
}

Parameter LegalMemory::legal_parameter(const Parameter& parameter) const {
  const auto type = memory_type(parameter.type);
  if (!parameter.is_address) return parameter;
  if (types_.is_narrow(type)) return {.is_address = true, .type = u32, .is_in_words = true};
  return {.is_address = true, .type = types_.is_wide(type) ? u32 : parameter.type};
}

ir::DType LegalMemory::element(const Instruction& now) const { return memory_type(from_.parameters[now.number].type); }

Value LegalMemory::parameter_word(std::uint64_t which, bool is_upper) {
  return writer_.write({Code::parameter_word, u32, {-1, -1, -1}, 2 * which + (is_upper ? 1 : 0)});
}

Wide LegalMemory::parameter(const Instruction& now) {
  if (types_.is_wide(now.type)) return {parameter_word(now.number, false), parameter_word(now.number, true)};
  if (types_.is_narrow(now.type)) return {LegalTypes::narrowed(now.type, parameter_word(now.number, false)), {}};
  return {writer_.write(now), {}};
}

LegalMemory::Place LegalMemory::place(const Instruction& now, Value at) {
  const auto bytes = static_cast<std::int64_t>(ir::size_of(element(now)));
  const Value offset = as_offset(at);
  if (bytes >= 4) return {bytes == 4 ? offset : offset * (bytes / 4), {}};
  const Value first = bits_as(i32, parameter_word(now.number, false) & 3);  // of the address
  const Value byte = offset * bytes + first;
  return {byte >> 2, bits_as(u32, byte & 3) << 3};
}

Value LegalMemory::word_at(const Instruction& now, Value index) {
  const auto type = legal_parameter(from_.parameters[now.number]).type;
  return bits_as(u32, writer_.write({Code::load, type, {index.id, -1, -1}, now.number}));
}
void LegalMemory::put_word(const Instruction& now, Value index, Value word) {
  const auto type = legal_parameter(from_.parameters[now.number]).type;
  writer_.write({Code::store, type, {index.id, bits_as(type, word).id, -1}, now.number});
}

bool LegalMemory::is_as_it_was(const Instruction& now) const {
  switch (now.code) {
    case Code::load:
    case Code::store:
    case Code::load_wide:
    case Code::store_wide:
    case Code::load_pack:
    case Code::store_pack:
    case Code::atomic_add:
      return types_.has_int64 && !types_.is_narrow(element(now));
    case Code::load_shared:
    case Code::store_shared:
      return !types_.is_wide(now.type);
    case Code::store_shared_pack:
      return types_.has_int64;
    default:
      return false;
  }
}

Wide LegalMemory::load(const Instruction& now, Value at) {
  const auto [word, shift] = place(now, at);
  const Value low = word_at(now, word);
  if (bits_of(now.type) < 32) return {LegalTypes::narrowed(now.type, low >> shift), {}};
  if (bits_of(now.type) == 32) return {bits_as(now.type, low), {}};
  const Wide words{low, word_at(now, word + 1)};
  if (!types_.has_int64) return words;
  return {bits_as(now.type, writer_.write({Code::join, u64, {words.low.id, words.high.id, -1}, 0})), {}};
}

void LegalMemory::store(const Instruction& now, Value at, const Wide& words) {
  const int width = bits_of(now.type);
  const auto [word, shift] = place(now, at);
  if (width < 32) {
    const Value mask = writer_.index((std::int64_t{1} << width) - 1);
    const Value bits = (words.low & mask) << shift, which = mask << shift;
    writer_.write({Code::store_bits, u32, {word.id, bits.id, which.id}, now.number});
    return;
  }
  put_word(now, word, words.low);
  if (width == 64) put_word(now, word + 1, words.high);
}

std::array<Value, 4> LegalMemory::load_pack(const Instruction& now, Value at) {
  const Value first = place(now, at).word;
  return {word_at(now, first), word_at(now, first + 1), word_at(now, first + 2), word_at(now, first + 3)};
}

void LegalMemory::store_pack(const Instruction& now, Value at, const Wide& low, const Wide& high) {
  const Value first = place(now, at).word;
  put_word(now, first, low.low);
  put_word(now, first + 1, low.high);
  put_word(now, first + 2, high.low);
  put_word(now, first + 3, high.high);
}

Value LegalMemory::atomic_add(const Instruction& now, Value at, Value value) {
  return writer_.write({now.code, now.type, {as_offset(at).id, value.id, -1}, now.number});
}

Wide LegalMemory::load_shared(const Instruction& now, Value at) {
  const Value low = as_index(at) * 2, high = low + 1;
  const auto word = [&](Value index) {
    return writer_.write({Code::load_shared, u32, {index.id, -1, -1}, now.number});
  };
  return {word(low), word(high)};
}

void LegalMemory::store_shared(const Instruction& now, Value at, const Wide& value) {
  const Value low = as_index(at) * 2, high = low + 1;
  writer_.write({Code::store_shared, u32, {low.id, value.low.id, -1}, now.number});
  writer_.write({Code::store_shared, u32, {high.id, value.high.id, -1}, now.number});
}

void LegalMemory::store_shared_pack(const Instruction& now, Value at, const Wide& low, const Wide& high) {
  const auto type = from_.shared[now.number].type;
  const std::array<Value, 4> words{low.low, low.high, high.low, high.high};
  for (std::size_t k = 0; k < words.size(); ++k) {
    const Value index = as_index(at) + static_cast<std::int64_t>(k);
    writer_.write({Code::store_shared, type, {index.id, bits_as(type, words[k]).id, -1}, now.number});
  }
}

}  // namespace burn::compile::kernel
