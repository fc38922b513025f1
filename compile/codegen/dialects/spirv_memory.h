// Instructions that read and write memory and shared arrays, and those on tiles, as SPIR-V.
#pragma once

#include <map>
#include <set>

#include "compile/codegen/dialects/spirv_state.h"

namespace burn::compile::spirv {

class SpirvMemory {
 public:
  explicit SpirvMemory(SpirvState& state);

  // Prints instruction `i`; false: it is none of these.
  bool put(std::size_t i);

 private:
  using Instruction = kernel::Instruction;

  // An index of 64 bits.
  Id index(std::int32_t value);
  // A pointer to an element of memory, or to several that begin there.
  Id element(const Instruction& instruction);
  Id element_as(Id pointer, const Instruction& instruction);
  Id address_in_halves(const Instruction& instruction);  // as a vector
  void store_bits(const Instruction& now);
  // Sixteen bytes as words of 32 bits.
  Id pack_type();
  Id pack_at(const Instruction& instruction);
  Id pack_of(const Instruction& now);  // of its halves
  Id shared_element(const Instruction& instruction);
  Id shared_pack(std::uint64_t array, Id index);
  Id shared_pack_index(Id element);
  Id shared_array(std::uint64_t which);  // one that is read in packs is one of vectors
  Id sums_type();                        // of tiles
  bool put_tile(std::size_t i);

  // Where threads of a block read what others have written to memory, accesses take part in that order.
  std::uint32_t memory_access() const;

  SpirvState& state_;
  bool orders_memory_ = false;
  std::map<std::uint64_t, Id> shared_;  // arrays
  std::set<std::uint64_t> packed_;      // those that are read or written in packs
};

}  // namespace burn::compile::spirv
