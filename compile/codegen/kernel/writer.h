// Builds a kernel by calls, in the order in which its threads run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compile/codegen/kernel/value.h"

namespace burn::compile::kernel {

// Elements in memory: the kernel's parameter of that number, an address.
struct Memory {
  int parameter = -1;
  ir::DType dtype = ir::DType::f32;
};

// An array that the threads of a block share.
struct Shared {
  int array = -1;
  ir::DType type = ir::DType::f32;
};

// What may change. `id` is the instruction that makes it.
struct Variable {
  Writer* writer = nullptr;
  std::int32_t id = -1;
  ir::DType type = ir::DType::bool_;

  Value get() const;
  void set(Value value) const;
};

class Writer {
 public:
  // `has_functions`, `has_exp2`: as in DeviceFacts.
  explicit Writer(int threads, bool has_functions = false, bool has_exp2 = false)
      : has_functions_(has_functions), has_exp2_(has_exp2) {
    kernel_.threads = threads;
  }
  Writer(const Writer&) = delete;  // values point to it
  Writer& operator=(const Writer&) = delete;

  // The next parameter of the kernel: arguments of a launch come in the same order.
  Memory address(ir::DType element);
  Value number(ir::DType type);
  Value parameter(int which);  // a number that is a parameter already

  // Requires: of a type of whole numbers, the number is below 2^63 in size.
  Value constant(ir::DType type, double number);
  Value constant(ir::DType type, std::int64_t number);
  Value index(std::int64_t number) { return constant(ir::DType::u32, number); }

  Value thread();              // u32: in its block
  Value block(int axis = 0);   // u32; on axis 0 it may lie beyond the blocks that were asked for
  Value blocks(int axis = 0);  // u32
  Value position();            // i64: block(0) * threads + thread()
  int threads() const { return kernel_.threads; }
  bool has_functions() const { return has_functions_; }
  bool has_exp2() const { return has_exp2_; }

  // An element, in its compute type: bool of a byte, f32 of the 16-bit floats.
  Value load(Memory from, Value index);
  // Rounds once, where memory is narrower. Requires: the value has the compute type.
  void store(Memory to, Value index, Value value);
  // So many elements side by side: 2, 4, 8 or 16 bytes in all, the first of which lies at a multiple of them.
  std::vector<Value> load(Memory from, Value index, int count);
  void store(Memory to, Value index, std::span<const Value> values);
  Value atomic_add(Memory to, Value index, Value value);  // of 32-bit whole numbers

  Shared shared(ir::DType type, std::int64_t count);
  Value load(Shared from, Value index);
  void store(Shared to, Value index, Value value);
  // Four elements of 32 bits side by side. `index`: a multiple of 4.
  std::array<Value, 4> load_pack(Shared from, Value index);
  void store_pack(Shared to, Value index, const std::array<Value, 4>& elements);
  // Sixteen bytes of memory as words, from an element on that lies at a multiple of 16.
  std::array<Value, 4> load_words(Memory from, Value index);

  // Tiles of a subgroup (Code::tile_sums and those behind it).
  Value tile_sums();
  Value tile_load(ir::DType type, const TileLoad& what, Value index, Value step);
  void tile_multiply(Value sums, Value first, Value second);
  void tile_store(Shared to, Value index, Value step, Value sums);
  void barrier();         // behind it, the block's threads see what each has written to shared arrays
  void memory_barrier();  // and to memory

  // What thread `lane` of the subgroup has for `value`. All threads of the subgroup reach it.
  Value broadcast(Value value, int lane);
  // What the thread has whose place in the subgroup differs in the bits of `mask`, of any type.
  Value shuffle_xor(Value value, int mask);

  Variable variable(Value first);
  // body(counter) for begin, begin + step, ... while it is less than end. Of whole numbers, of one type.
  void loop(Value begin, Value end, Value step, const std::function<void(Value)>& body);
  void loop(Value end, const std::function<void(Value)>& body);  // from 0, by 1
  void break_when(Value condition);                              // of the innermost loop
  void when(Value condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});

  // Writes an instruction; the functions above and the operators of values are made of it.
  Value write(const Instruction& instruction);
  const Instruction& made(Value value) const { return kernel_.body[static_cast<std::size_t>(value.id)]; }

  Kernel take() { return std::move(kernel_); }

 private:
  Value joined(Value low, Value high);  // whole numbers without a sign, as one of twice their size

  bool has_functions_, has_exp2_;
  Kernel kernel_;
};

}  // namespace burn::compile::kernel
