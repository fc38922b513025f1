// How the rows of a group lie in memory, over threads and between passes, and the text of a row kernel that reads them.
#pragma once

#include <set>
#include <string>

#include "compile/codegen/group_plan.h"
#include "compile/codegen/row_shape.h"
#include "compile/codegen/target.h"

namespace burn::compile {

// Reads are named by their position in the plan's. The text is over the kernel's variables: `p<k>` points to read k,
// `base` has the offsets of the row and `next` those of the row that follows, `c` is an element of the row, `i` the
// number of a thread's vector, and `lane` the thread's place in its row.
class RowLayout {
 public:
  RowLayout(const DeviceFacts& device, const GroupPlan& plan);

  const LoopDims& rows() const { return rows_; }
  const LoopDims& inner() const { return inner_; }
  const RowShape& shape() const { return shape_; }
  // Blocks that a multiprocessor is to run side by side, each thread with so many more bytes in its registers.
  int resident_blocks(std::size_t more_bytes) const;
  int shared_bytes() const;  // of a block, for the rows that are there between passes

  // A read with one number for all elements of a row.
  bool is_of_row(std::size_t k) const { return of_row_.contains(k); }
  // What more than one pass looks at: in registers (`l<k>`) where there is room, or in shared memory (`m<k>`).
  bool is_held(std::size_t k) const { return shape_.vectors > 0 && held_.contains(k); }
  bool is_shared(std::size_t k) const { return shape_.in_shared && held_.contains(k); }
  // The elements of a row lie one after the other, or are the same, in all operands.
  bool is_plain() const;

  // The offset of element `c` of the row in a full operand.
  std::string element_offset(int full_index, const std::string& c) const;
  // A vector of a read.
  std::string load(std::size_t k, const std::string& into) const;
  // The body for each vector of the thread.
  std::string each_vector(const std::string& body) const;
  std::string prefetches() const;     // of the next row
  std::string held_reads() const;     // what stays in registers
  std::string shared_places() const;  // where in shared memory the others stay

 private:
  ir::DType dtype(std::size_t k) const { return plan_.program().type_of(plan_.reads()[k].ref).dtype; }
  int vector_width() const;

  const GroupPlan& plan_;
  LoopDims rows_, inner_;
  RowShape shape_;
  std::set<std::size_t> held_, of_row_;
  RowNeeds needs_;
};

}  // namespace burn::compile
