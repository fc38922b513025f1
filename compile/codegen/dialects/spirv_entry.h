// What a kernel is given when it begins, as SPIR-V: its parameters, and which thread and block this is.
#pragma once

#include <map>

#include "compile/codegen/dialects/spirv_state.h"

namespace burn::compile::spirv {

class SpirvEntry {
 public:
  explicit SpirvEntry(SpirvState& state) : state_(state) {}

  // Loads the words of the argument record, in the function's first block. Call once, before any put().
  void load_parameters();
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
  std::map<BuiltIn, Id> builtins_;  // their variables
};

}  // namespace burn::compile::spirv
