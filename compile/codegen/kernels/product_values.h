// What kernels of matrix products have in common: operands of any strides, batches, and what is done with sums.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/block_tile.h"
#include "compile/codegen/kernels/product_group.h"
#include "compile/codegen/operands.h"

namespace burn::compile::kernels {

// Where the matrices of a batch begin.
struct ProductBatch {
  LoopDims walk;
  std::int64_t count = 1;

  explicit ProductBatch(std::span<const View* const> views) {
    const int rank = views[0]->rank() - 2;
    std::vector<std::vector<std::int64_t>> strides;
    for (const auto* view : views) strides.emplace_back(view->strides.begin(), view->strides.begin() + rank);
    const auto sizes = views[0]->shape.span().first(static_cast<std::size_t>(rank));
    for (const auto size : sizes) count *= size;
    walk = merge_dims(sizes, strides);
  }

  // Of each view.
  std::vector<kernel::Value> offsets(Arguments& arguments, kernel::Value position) const {
    std::vector<kernel::Value> offsets(walk.strides.size(), arguments.constant(0));
    if (count == 1) return offsets;
    kernel::Value rest = position;
    for (std::size_t d = walk.sizes.size(); d-- > 0;) {
      const kernel::Value size = arguments.number(walk.sizes[d]), before = rest / size, place = rest - before * size;
      for (std::size_t k = 0; k < offsets.size(); ++k) {
        if (walk.strides[k][d] != 0) offsets[k] = offsets[k] + place * arguments.number(walk.strides[k][d]);
      }
      rest = before;
    }
    return offsets;
  }
};

struct MatrixSteps {  // of a matrix: how far apart its rows are, or its columns
  std::int64_t row, column;
  explicit MatrixSteps(const View& view) : row(view.strides[view.rank() - 2]), column(view.strides[view.rank() - 1]) {}
};

// Whether lines of so many elements side by side, so far apart, are whole packs of `count` elements that one access may
// take, in every matrix of the batch.
bool lies_in_packs(const View& view, std::int64_t count, std::int64_t side_by_side, std::int64_t step);

struct ProductOperands {
  const View &a, &b, &c;
  // Where set, c is not stored but read by this group, under GroupOperand::Kind::computed; it is row-major.
  const GroupPlan* group = nullptr;

  ProductBatch batch() const { return ProductBatch(std::vector<const View*>{&a, &b, &c}); }
  // The largest number that the kernel counts up to.
  std::int64_t most(std::int64_t threads) const {
    for (const auto* view : {&a, &b, &c}) threads = std::max(threads, reach(*view));
    return threads;
  }
  ir::DType index(std::int64_t threads) const {
    return group ? ProductGroup::index(*group, most(threads)) : index_type(most(threads));
  }
};

// Stores sums as elements of c, or as what the group makes of them.
class ProductResult {
 public:
  ProductResult(kernel::Writer& writer, Arguments& arguments, const ProductOperands& operands);

  // `begins`: of the batch's matrices (ProductOperands::batch).
  void store(const std::vector<kernel::Value>& begins, kernel::Value row, kernel::Value column, kernel::Value sum);
  // Several columns at once, where takes_packs().
  void store(const std::vector<kernel::Value>& begins, kernel::Value row, kernel::Value column,
             std::span<const kernel::Value> sums);
  static bool takes_packs(const ProductOperands& operands, std::int64_t count) {
    const MatrixSteps steps(operands.c);
    return steps.column == 1 && lies_in_packs(operands.c, count, operands.c.shape[operands.c.rank() - 1], steps.row);
  }

 private:
  kernel::Writer& writer_;
  ir::DType dtype_;
  kernel::Memory into_;  // without a group
  kernel::Value row_, column_;
  std::optional<ProductGroup> group_;
};

// The sums of parts of the depth [parts, batch, rows, columns], one after the other, as the product.
void add_parts(Emitter& emit, const View& parts, const BlockGrid& grid, const ProductOperands& operands);

}  // namespace burn::compile::kernels
