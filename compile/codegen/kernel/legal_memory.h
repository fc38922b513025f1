// Parameters, memory and shared arrays of kernels for devices without some types of whole numbers (legalise.h).
#pragma once

#include <array>
#include <cstdint>

#include "compile/codegen/kernel/wide.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {

// Which types a device has, and what stands for those that it has not.
struct LegalTypes {
  bool has_int64 = true, has_narrow = true;

  bool is_wide(ir::DType type) const { return !has_int64 && ir::is_integer(type) && bits_of(type) == 64; }
  bool is_narrow(ir::DType type) const { return !has_narrow && ir::is_integer(type) && bits_of(type) < 32; }
  // Of a register: i32 or u32 for a narrow type.
  ir::DType legal(ir::DType type) const;
  // The number that the lower bits of a word of 32 bits are in a narrow type.
  static Value narrowed(ir::DType type, Value word);
  static Value narrow_constant(Writer& writer, const Instruction& constant);
};

class LegalMemory {
 public:
  // Declares the shared arrays.
  LegalMemory(const Kernel& from, const LegalTypes& types, Writer& writer);

  // The kernel that was written, with its parameters.
  Kernel with_parameters(Kernel kernel) const;

  // Whether an instruction accesses memory or shared elements that are as they were; those below are for others.
  bool is_as_it_was(const Instruction& now) const;

  Wide parameter(const Instruction& now);
  // `at`: the index, as it was or its lower word. Numbers of 64 bits are two words, all others one.
  Wide load(const Instruction& now, Value at);
  void store(const Instruction& now, Value at, const Wide& words);
  std::array<Value, 4> load_pack(const Instruction& now, Value at);
  void store_pack(const Instruction& now, Value at, const Wide& low, const Wide& high);
  Value atomic_add(const Instruction& now, Value at, Value value);

  Wide load_shared(const Instruction& now, Value at);
  void store_shared(const Instruction& now, Value at, const Wide& value);
  void store_shared_pack(const Instruction& now, Value at, const Wide& low, const Wide& high);

 private:
  // Where an element lies: the index of its word in the legal parameter, and its first bit in it.
  struct Place {
    Value word;   // i32
    Value shift;  // u32; of narrow elements alone
  };
  Place place(const Instruction& now, Value at);

  ir::DType element(const Instruction& now) const;  // in memory, of the parameter as it was
  Parameter legal_parameter(const Parameter& parameter) const;
  Value word_at(const Instruction& now, Value index);  // u32
  void put_word(const Instruction& now, Value index, Value word);
  Value parameter_word(std::uint64_t which, bool is_upper);

  const Kernel& from_;
  const LegalTypes types_;
  Writer& writer_;
};

}  // namespace burn::compile::kernel
