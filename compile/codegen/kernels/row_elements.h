// The elements of a row that a thread computes with: what several passes look at is read once, where there is room in
// registers, and computed once.
#pragma once

#include <map>
#include <vector>

#include "compile/codegen/kernels/group_values.h"
#include "compile/codegen/kernels/rows_on_threads.h"
#include "compile/codegen/row_layout.h"
#include "compile/codegen/row_passes.h"

namespace burn::compile::kernels {

class RowElements {
 public:
  // All of them outlive it.
  RowElements(const GroupPlan& plan, const RowLayout& layout, const RowsOnThreads& shape, GroupValues& values);

  // The row, the thread's place among those of the row, and the row's elements.
  struct Row {
    kernel::Value row, lane, size;
  };
  // Before the others. `offsets`: of the row, in each operand.
  void begin(const Row& row, Offsets offsets);
  // Reads what several passes look at.
  void hold();

  // Whether read k has one number for all elements of a row.
  bool is_of_row(std::size_t k) const;
  // The thread's i-th vector begins at an element of the row; one beyond its end is another's once more.
  kernel::Value begin_of(int i);
  // The values of elements that `needs` has, at `width` elements of the row from `c` on, beside those of the row. They
  // are the thread's `vector`-th, or -1.
  std::vector<KnownValues> at(const PassNeeds& needs, kernel::Value c, int width, int vector,
                              const KnownValues& of_row);
  // Of the first of the elements that at() was asked for last.
  const Offsets& offsets() const { return offsets_; }

 private:
  // The elements of a read at `offset`, side by side or the same.
  std::vector<kernel::Value> read(std::size_t k, kernel::Value offset, int width);
  Offsets offsets_at(kernel::Value c);

  const GroupPlan& plan_;
  const RowLayout& layout_;
  const LoopDims& walk_;  // within a row
  const RowsOnThreads& shape_;
  GroupValues& values_;
  Row row_;
  Offsets base_;                                            // of the row
  Offsets offsets_;                                         // of the element
  std::map<std::size_t, std::vector<kernel::Value>> held_;  // reads: the thread's elements
  std::map<int, std::vector<KnownValues>> computed_;        // by vector: members that an earlier pass has computed
};

}  // namespace burn::compile::kernels
