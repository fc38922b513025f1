// The first half of sums over all rows: a row kernel's blocks go over many rows and leave a line of parts each.
#pragma once

#include <string>
#include <vector>

#include "compile/codegen/print.h"
#include "compile/codegen/row_layout.h"

namespace burn::compile {

// The column members of a group, as text of a row kernel. Made once the layout is known.
class RowColumns {
 public:
  RowColumns(const GroupPlan& plan, const RowLayout& layout);

  bool empty() const { return columns_.empty(); }
  std::size_t bytes_kept() const;  // by a thread, in registers

  // A line of memory for every row that is under way at once, for each sum, and the parameters that say where.
  void declare_parts(Emitter& emit, GroupPrinter& printer, std::int64_t lines);
  std::string at_zero(const GroupPrinter& printer) const;
  // What is summed in the pass of a stage, element by element, is added to `seen`.
  std::string additions(const GroupPrinter& printer, int stage, std::vector<ir::Ref>& seen) const;
  std::string stores(const GroupPrinter& printer) const;  // of the block's line
  // The launch after the kernel's.
  void sum_parts(Emitter& emit) const;

 private:
  ir::DType dtype(const Member& column) const {  // that is summed in
    return ir::compute_dtype(plan_.program().type_of(plan_.value_of(column)).dtype);
  }

  const GroupPlan& plan_;
  const RowLayout& layout_;
  std::vector<const Member*> columns_;
  std::vector<View> parts_;
};

}  // namespace burn::compile
