// What kernels of groups have in common, over elements and over rows: parameters, what members compute, and walks.
#pragma once

#include <map>
#include <set>
#include <span>
#include <vector>

#include "compile/codegen/group_plan.h"
#include "compile/codegen/kernels/arguments.h"

namespace burn::compile::kernels {

// The values of a group that are known at a place of its kernel. A value without an id is not known.
struct KnownValues {
  std::vector<kernel::Value> reads, members;  // in the plan's order
};

// Where an element of each operand lies, in elements from the operand's address.
using Offsets = std::vector<kernel::Value>;

class GroupValues {
 public:
  // Adds the operands to the kernel's parameters. The index type of `arguments` holds positions and offsets. `coarse`:
  // nodes that may be computed by shorter formulas (accuracy.h), where the device has them.
  GroupValues(kernel::Writer& writer, Arguments& arguments, const GroupPlan& plan, std::set<std::int32_t> coarse = {});

  kernel::Value index(std::int64_t number) { return arguments_.constant(number); }

  // The offsets at a position of a walk, whose sizes and strides become parameters when it is met first. Requires: the
  // walk stays where it is.
  Offsets offsets_in(const LoopDims& walk, kernel::Value position);

  // Nothing known but constants and scalars.
  KnownValues scalars();
  kernel::Value read(std::size_t k, kernel::Value offset);  // an element of a read of memory, or one that counts
  void write(std::size_t k, kernel::Value offset, const KnownValues& known);
  // So many elements side by side, from an offset that is a multiple of that (compile::vector_width).
  std::vector<kernel::Value> read(std::size_t k, kernel::Value offset, int width);
  void write(std::size_t k, kernel::Value offset, std::span<const KnownValues> known);

  // Of groups without rows, whose elements `walk` goes through: the offsets at a position; reads of what every element
  // has, for elements that lie side by side from there on; all members of these; and writes of the results.
  Offsets offsets_at(const LoopDims& walk, kernel::Value position);
  void read_elements(const LoopDims& walk, const Offsets& offsets, std::vector<KnownValues>& known);
  void compute_elements(kernel::Value position, std::vector<KnownValues>& known);
  void write_elements(const Offsets& offsets, std::span<const KnownValues> known);

  // What a member computes, of operands that are known: it is no reduction and no gather. `position` (index type): of
  // the element in the domain.
  kernel::Value compute(const Member& member, kernel::Value position, const KnownValues& known);
  kernel::Value of(ir::Ref ref, const KnownValues& known) const;
  std::size_t read_index(ir::Ref ref) const;
  std::size_t member_index(const Member& member) const;
  ir::DType dtype(ir::Ref ref) const { return plan_.program().type_of(ref).dtype; }

 private:
  // Which parameters a walk's numbers are; -1: none.
  struct LoopParameters {
    std::vector<int> sizes;                 // from the second dim on
    std::vector<std::vector<int>> strides;  // [operand][dim]
  };
  const LoopParameters& parameters_of(const LoopDims& walk);
  int number_parameter(std::int64_t number);  // of the index type
  kernel::Value random(const ir::Random& op, kernel::Value position);
  bool is_read(ir::Ref value) const;

  kernel::Writer& writer_;
  Arguments& arguments_;
  const GroupPlan& plan_;
  std::set<std::int32_t> coarse_;
  std::vector<kernel::Memory> reads_, writes_;  // of those in memory
  std::vector<kernel::Value> first_;            // of the reads that count
  std::map<const LoopDims*, LoopParameters> walks_;
};

}  // namespace burn::compile::kernels
