// Loops and branches of a kernel, as SPIR-V's blocks.
#pragma once

#include <vector>

#include "compile/codegen/dialects/spirv_state.h"

namespace burn::compile::spirv {

class SpirvFlow {
 public:
  explicit SpirvFlow(SpirvState& state) : state_(state) {}

  // Prints instruction `i`; false: it is none of these.
  bool put(std::size_t i);

 private:
  // A loop or a branch that has begun and not yet ended.
  struct Open {
    Id merge = 0;
    Id next = 0;  // of a loop: where the counter goes on; of a branch: where the other side begins
    Id header = 0, counter = 0, step = 0, counter_after = 0;
    bool is_loop = false, has_otherwise = false;
    ir::DType type = ir::DType::u32;
  };

  void label(Id id);
  void branch(Id to);
  void begin_loop(std::size_t i, const kernel::Instruction& loop);
  void end_loop();
  void break_when(Id condition);
  void begin_when(std::size_t i, Id condition);
  // Whether the branch that begins at `i` has another side.
  bool has_otherwise(std::size_t i) const;
  Open take_open();  // the innermost

  SpirvState& state_;
  std::vector<Open> open_;
};

}  // namespace burn::compile::spirv
