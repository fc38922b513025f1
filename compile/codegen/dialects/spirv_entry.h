// What a kernel is given when it begins, as SPIR-V: its parameters, and which thread and block this is.
#pragma once

#include <map>
#include <vector>

#include "compile/codegen/dialects/spirv_state.h"

namespace burn::compile::spirv {

class SpirvEntry {
 public:
  explicit SpirvEntry(SpirvState& state) : state_(state) {}

  // Call once, before any put().
  void begin();
  // Loads the parameters that are due before instruction `i` (spirv_parameters.h).
  void load_before(std::size_t i);
  // Prints instruction `i`; false: it is none of these.
  bool put(std::size_t i);

 private:
  // The value of a parameter that is a number, not an address.
  Id number_of(std::size_t parameter);
  Id builtin(BuiltIn which, Id type);
  Id vector3();
  Id part(Id vector, std::uint32_t which);
  // This block's index along an axis. Along axis 0 the grid's third dimension goes on where the first ends.
  Id block(std::uint64_t axis);

  SpirvState& state_;
  std::map<BuiltIn, Id> builtins_;                 // their variables
  Id record_ = 0;                                  // a pointer to the argument record
  std::vector<std::vector<std::uint64_t>> loads_;  // per instruction: parameters
  std::vector<std::vector<std::size_t>> numbers_;  // per parameter: instructions that give it as a number
};

}  // namespace burn::compile::spirv
