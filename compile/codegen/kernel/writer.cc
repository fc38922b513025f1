#include "compile/codegen/kernel/writer.h"

#include <bit>

#include "base/error.h"
#include "compile/codegen/kernel/convert.h"

namespace burn::compile::kernel {
namespace {

std::uint64_t bits_of_number(ir::DType type, double real, std::int64_t whole) {
  if (type == ir::DType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(real));
  if (type == ir::DType::f64) return std::bit_cast<std::uint64_t>(real);
  if (type == ir::DType::bool_) return whole != 0 ? 1 : 0;
  const int width = bits_of(type);
  const auto bits = static_cast<std::uint64_t>(whole);
  return width == 64 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

// The whole number of so many bytes.
ir::DType word_of(int bytes) {
  switch (bytes) {
    case 1:
      return ir::DType::u8;
    case 2:
      return ir::DType::u16;
    case 4:
      return ir::DType::u32;
    default:
      return ir::DType::u64;
  }
}

}  // namespace

Value Variable::get() const { return writer->write({Code::get, type, {id, -1, -1}, 0}); }

void Variable::set(Value value) const {
  BURN_CHECK(value.type == type, "a variable of another type");
  writer->write({Code::set, type, {id, value.id, -1}, 0});
}

Value Writer::write(const Instruction& instruction) {
  const auto id = static_cast<std::int32_t>(kernel_.body.size());
  kernel_.body.push_back(instruction);
  return {this, id, instruction.type};
}

Memory Writer::address(ir::DType element) {
  kernel_.parameters.push_back({true, element});
  return {static_cast<int>(kernel_.parameters.size()) - 1, element};
}

Value Writer::number(ir::DType type) {
  kernel_.parameters.push_back({false, type});
  return parameter(static_cast<int>(kernel_.parameters.size()) - 1);
}

Value Writer::parameter(int which) {
  const auto type = kernel_.parameters[static_cast<std::size_t>(which)].type;
  return write({Code::parameter, type, {-1, -1, -1}, static_cast<std::uint64_t>(which)});
}

Value Writer::constant(ir::DType type, double number) {
  const bool is_real = type == ir::DType::f32 || type == ir::DType::f64;  // of which infinity has no whole number
  const auto whole = is_real ? 0 : static_cast<std::int64_t>(number);
  return write({Code::constant, type, {-1, -1, -1}, bits_of_number(type, number, whole)});
}
Value Writer::constant(ir::DType type, std::int64_t number) {
  return write({Code::constant, type, {-1, -1, -1}, bits_of_number(type, static_cast<double>(number), number)});
}

Value Writer::thread() { return write({Code::thread, ir::DType::u32, {-1, -1, -1}, 0}); }
Value Writer::block(int axis) {
  return write({Code::block, ir::DType::u32, {-1, -1, -1}, static_cast<std::uint64_t>(axis)});
}
Value Writer::blocks(int axis) {
  return write({Code::blocks, ir::DType::u32, {-1, -1, -1}, static_cast<std::uint64_t>(axis)});
}
Value Writer::position() { return to(ir::DType::i64, block()) * kernel_.threads + to(ir::DType::i64, thread()); }

Value Writer::load(Memory from, Value index) {
  const auto raw =
      write({Code::load, memory_type(from.dtype), {index.id, -1, -1}, static_cast<std::uint64_t>(from.parameter)});
  return from_memory(from.dtype, raw);
}

void Writer::store(Memory to, Value index, Value value) {
  BURN_CHECK(value.type == ir::compute_dtype(to.dtype), "a value is stored in its compute type");
  const auto raw = to_memory(to.dtype, value);
  write({Code::store, raw.type, {index.id, raw.id, -1}, static_cast<std::uint64_t>(to.parameter)});
}

std::vector<Value> Writer::load(Memory from, Value index, int count) {
  if (count == 1) return {load(from, index)};
  const auto which = static_cast<std::uint64_t>(from.parameter);
  const auto raw = memory_type(from.dtype);
  const int width = bits_of(raw), bytes = width / 8 * count;
  std::vector<Value> words;  // whole numbers that lie side by side
  if (bytes == 16) {
    for (const auto word : load_words(from, index)) words.push_back(word);
  } else {
    words.push_back(write({Code::load_wide, word_of(bytes), {index.id, -1, -1}, which}));
  }
  std::vector<Value> elements;
  const int in_word = bits_of(words[0].type);
  for (int k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k * width / in_word);
    Value element;
    if (width > in_word)
      element = write({Code::join, ir::DType::u64, {words[at].id, words[at + 1].id, -1}, 0});
    else
      element = to(word_of(width / 8), words[at] >> words[at].number(k * width % in_word));
    elements.push_back(from_memory(from.dtype, bits_as(raw, element)));
  }
  return elements;
}

void Writer::store(Memory to, Value index, std::span<const Value> values) {
  if (values.size() == 1) return store(to, index, values[0]);
  const auto which = static_cast<std::uint64_t>(to.parameter);
  std::vector<Value> parts;  // neighbours become one, until there are as few as one access takes
  for (const auto value : values) {
    BURN_CHECK(value.type == ir::compute_dtype(to.dtype), "a value is stored in its compute type");
    const auto raw = to_memory(to.dtype, value);
    parts.push_back(bits_as(word_of(bits_of(raw.type) / 8), raw));
  }
  const bool is_pack = bits_of(parts[0].type) * static_cast<int>(parts.size()) == 128;
  while (parts.size() > (is_pack ? 2 : 1)) {
    std::vector<Value> wider;
    for (std::size_t k = 0; k < parts.size(); k += 2) wider.push_back(joined(parts[k], parts[k + 1]));
    parts = std::move(wider);
  }
  if (is_pack)
    write({Code::store_pack, ir::DType::u64, {index.id, parts[0].id, parts[1].id}, which});
  else
    write({Code::store_wide, parts[0].type, {index.id, parts[0].id, -1}, which});
}

Value Writer::joined(Value low, Value high) {
  const int width = bits_of(low.type);
  if (width == 32) return write({Code::join, ir::DType::u64, {low.id, high.id, -1}, 0});
  const auto type = word_of(width / 4);
  return kernel::to(type, low) | (kernel::to(type, high) << constant(type, std::int64_t{width}));
}

Value Writer::atomic_add(Memory to, Value index, Value value) {
  BURN_CHECK(value.type == to.dtype && ir::is_integer(value.type) && bits_of(value.type) == 32,
             "atomic_add() takes whole numbers of 32 bits");
  return write({Code::atomic_add, value.type, {index.id, value.id, -1}, static_cast<std::uint64_t>(to.parameter)});
}

Shared Writer::shared(ir::DType type, std::int64_t count) {
  kernel_.shared.push_back({type, count});
  return {static_cast<int>(kernel_.shared.size()) - 1, type};
}
Value Writer::load(Shared from, Value index) {
  return write({Code::load_shared, from.type, {index.id, -1, -1}, static_cast<std::uint64_t>(from.array)});
}
void Writer::store(Shared to, Value index, Value value) {
  BURN_CHECK(value.type == to.type, "a shared array of another type");
  write({Code::store_shared, value.type, {index.id, value.id, -1}, static_cast<std::uint64_t>(to.array)});
}
std::array<Value, 4> Writer::load_words(Memory from, Value index) {
  const auto which = static_cast<std::uint64_t>(from.parameter);
  const auto pack = write({Code::load_pack, ir::DType::u32, {index.id, -1, -1}, which});
  std::array<Value, 4> words;
  for (std::uint64_t k = 0; k < words.size(); ++k) words[k] = write({Code::word, ir::DType::u32, {pack.id, -1, -1}, k});
  return words;
}

void Writer::store_pack(Shared to, Value index, const std::array<Value, 4>& elements) {
  BURN_CHECK(bits_of(to.type) == 32 && elements[0].type == to.type, "packs of shared elements are of 32 bits");
  const auto word = [&](std::size_t k) { return bits_as(ir::DType::u32, elements[k]); };
  const Value low = joined(word(0), word(1)), high = joined(word(2), word(3));
  write({Code::store_shared_pack, to.type, {index.id, low.id, high.id}, static_cast<std::uint64_t>(to.array)});
}

Value Writer::tile_sums() { return write({Code::tile_sums, ir::DType::f32, {-1, -1, -1}, 0}); }
Value Writer::tile_load(ir::DType type, const TileLoad& what, Value index, Value step) {
  return write({Code::tile_load, type, {index.id, step.id, -1}, what.number()});
}
void Writer::tile_multiply(Value sums, Value first, Value second) {
  write({Code::tile_multiply, ir::DType::f32, {sums.id, first.id, second.id}, 0});
}
void Writer::tile_store(Shared to, Value index, Value step, Value sums) {
  write({Code::tile_store, to.type, {index.id, step.id, sums.id}, static_cast<std::uint64_t>(to.array)});
}

std::array<Value, 4> Writer::load_pack(Shared from, Value index) {
  BURN_CHECK(bits_of(from.type) == 32, "packs of shared elements are of 32 bits");
  const auto pack =
      write({Code::load_shared_pack, from.type, {index.id, -1, -1}, static_cast<std::uint64_t>(from.array)});
  std::array<Value, 4> words;
  for (std::uint64_t k = 0; k < words.size(); ++k) words[k] = write({Code::word, from.type, {pack.id, -1, -1}, k});
  return words;
}

void Writer::barrier() { write({Code::barrier, ir::DType::bool_, {-1, -1, -1}, 0}); }
void Writer::memory_barrier() { write({Code::barrier, ir::DType::bool_, {-1, -1, -1}, 1}); }

Value Writer::broadcast(Value value, int lane) {
  return write({Code::broadcast, value.type, {value.id, -1, -1}, static_cast<std::uint64_t>(lane)});
}

Value Writer::shuffle_xor(Value value, int mask) {
  const auto type = value.type;
  const auto shuffled = [&](Value word) {
    return write({Code::shuffle_xor, word.type, {word.id, -1, -1}, static_cast<std::uint64_t>(mask)});
  };
  if (ir::is_bool(type)) return shuffled(select(value, index(1), index(0))) != 0;
  if (bits_of(type) == 32) return shuffled(value);
  if (bits_of(type) < 32) {
    const auto wide = is_signed(type) ? ir::DType::i32 : ir::DType::u32;
    return to(type, shuffled(to(wide, value)));
  }
  const Value bits = bits_as(ir::DType::u64, value);
  const Value low = shuffled(to(ir::DType::u32, bits)), high = shuffled(to(ir::DType::u32, bits >> 32));
  return bits_as(type, joined(low, high));
}

Variable Writer::variable(Value first) {
  const auto made = write({Code::variable, first.type, {first.id, -1, -1}, 0});
  return {this, made.id, made.type};
}

void Writer::loop(Value begin, Value end, Value step, const std::function<void(Value)>& body) {
  BURN_CHECK(begin.type == end.type && begin.type == step.type && ir::is_integer(begin.type),
             "a loop counts in whole numbers of one type");
  const auto counter = write({Code::loop, begin.type, {begin.id, end.id, step.id}, 0});
  body(counter);
  write({Code::end_loop, ir::DType::bool_, {-1, -1, -1}, 0});
}
void Writer::loop(Value end, const std::function<void(Value)>& body) { loop(end.number(0), end, end.number(1), body); }

void Writer::break_when(Value condition) {
  BURN_CHECK(condition.type == ir::DType::bool_, "a condition is a bool");
  write({Code::break_when, ir::DType::bool_, {condition.id, -1, -1}, 0});
}

void Writer::when(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  BURN_CHECK(condition.type == ir::DType::bool_, "a condition is a bool");
  write({Code::when, ir::DType::bool_, {condition.id, -1, -1}, 0});
  then();
  if (otherwise) {
    write({Code::otherwise, ir::DType::bool_, {-1, -1, -1}, 0});
    otherwise();
  }
  write({Code::end_when, ir::DType::bool_, {-1, -1, -1}, 0});
}

}  // namespace burn::compile::kernel
