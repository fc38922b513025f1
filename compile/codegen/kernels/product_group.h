// The group that reads a product, computed where the product's sums are, before anything is stored.
#pragma once

#include <span>

#include "compile/codegen/group_plan.h"
#include "compile/codegen/kernels/group_values.h"

namespace burn::compile::kernels {

class ProductGroup {
 public:
  // Adds the group's operands to the kernel's parameters. The product is its operand of GroupOperand::Kind::computed.
  // Requires: the group has no rows; arguments of the type that index() says.
  ProductGroup(kernel::Writer& writer, Arguments& arguments, const GroupPlan& plan);
  ProductGroup(const ProductGroup&) = delete;  // its parts point to each other
  ProductGroup& operator=(const ProductGroup&) = delete;

  // An index type for the group's elements, and for numbers up to `most`.
  static ir::DType index(const GroupPlan& plan, std::int64_t most);

  // Computes the group for 1, 4 or 8 elements of the product that lie side by side, from a position of the domain that
  // is a multiple of their number, and stores its results.
  void store(kernel::Value position, std::span<const kernel::Value> elements);

 private:
  // Of as many elements as one access to each operand may take.
  void store_vector(kernel::Value position, std::span<const kernel::Value> elements);

  const GroupPlan& plan_;
  const LoopDims walk_;
  const std::size_t width_;
  GroupValues values_;
  KnownValues scalars_;
};

}  // namespace burn::compile::kernels
