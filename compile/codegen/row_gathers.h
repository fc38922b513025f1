// Gathers in a row kernel: the element of the row that an index names, where an index outside of it is reported.
#pragma once

#include <string>

#include "compile/codegen/emitter.h"
#include "compile/codegen/print.h"
#include "compile/codegen/row_layout.h"

namespace burn::compile {

// Members are Gathers along the row. The text is over the kernel's variables (row_layout.h), and declares the member's
// number.
class RowGathers {
 public:
  RowGathers(Emitter& emit, GroupPrinter& printer, const RowLayout& layout)
      : emit_(emit), plan_(printer.plan()), printer_(printer), layout_(layout) {}

  // Of an operand that is read.
  std::string from_memory(const Member& member);
  // Of an operand that a member gives: one element of it is computed once more, which is cheaper than a look at each
  // whether it is the one.
  std::string computed_again(const Member& member);

 private:
  ir::DType dtype(ir::Ref ref) const { return plan_.program().type_of(ref).dtype; }
  std::string checked_index(const Member& member);

  Emitter& emit_;
  const GroupPlan& plan_;
  GroupPrinter& printer_;
  const RowLayout& layout_;
};

}  // namespace burn::compile
