// What the kernels of attention have in common: a block of four subgroups has 64 rows (queries or keys), 16 for each
// subgroup, which multiplies them with chunks of other rows by tiles (Code::tile_multiply); the scores pass through
// shared memory, where each thread sees half a row of its subgroup.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "compile/codegen/kernel/device_facts.h"
#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/product_values.h"
#include "compile/codegen/kernels/tile.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {

struct AttentionBlock {
  static constexpr int kSubgroup = 32, kSubgroups = 4, kThreads = kSubgroup * kSubgroups;
  static constexpr int kTile = kernel::kTileSize;
  static constexpr int kRows = kSubgroups * kTile;
  static constexpr int kPack = 8;  // elements of 16 bytes

  static int in_tiles(std::int64_t width) { return static_cast<int>((width + kTile - 1) / kTile); }
  // Words from row to row in shared memory: 16 bytes more than the elements, so that rows begin in different banks.
  static int words_of(int elements) { return elements / 2 + 4; }
  static int floats_of(int elements) { return elements + 8; }
  // In shared memory, for a block's rows: elements, and rows of so many words.
  static std::int64_t all_rows(int of_each) { return std::int64_t{kRows} * of_each; }
};

// How many rows a chunk has where the kernels of forward and backward fit the device's shared memory; 0: they do not.
int attention_chunk(const DeviceFacts& facts, std::int64_t d, std::int64_t e, bool is_grad);

// The operands of attention, which all have one batch: a mask and a bias may be missing.
struct AttentionProblem {
  std::int64_t n = 0, m = 0, d = 0, e = 0;
  double scale = 1;
  bool causal = false;
  std::optional<View> mask, bias;
};

// The sizes, the mask and the bias; the first `required` operands are others.
template <typename Op>
AttentionProblem attention_problem(Emitter& emit, const Op& op, const NodeInPlan& at, int required) {
  AttentionProblem problem{.scale = op.scale, .causal = op.causal};
  const auto &q = emit.type_of(at.operand(0)).shape, &v = emit.type_of(at.operand(2)).shape;
  const int rank = q.rank();
  problem.n = q[rank - 2], problem.d = q[rank - 1], problem.m = v[rank - 2], problem.e = v[rank - 1];
  for (int k = required; k < at.operand_count(); ++k)
    (ir::is_bool(emit.type_of(at.operand(k)).dtype) ? problem.mask : problem.bias) = emit.read(at.operand(k));
  return problem;
}

// Rows of a matrix of 16-bit floats in memory, which accesses of 16 bytes may read (as_rows).
struct MatrixRows {
  kernel::Memory memory;
  kernel::Value begin, step, count;  // of the rows
  int width = 0;                     // elements
};
// A view whose rows can be read so: itself, or a copy.
View as_rows(Emitter& emit, const View& view);

// A kernel of attention while it is written.
class AttentionWriter {
 public:
  AttentionWriter(kernel::Writer& writer, Arguments& arguments, ir::DType dtype)
      : writer_(writer), arguments_(arguments), dtype_(dtype) {}

  kernel::Writer& writer() { return writer_; }
  Arguments& arguments() { return arguments_; }

  kernel::Value subgroup() { return writer_.thread() / AttentionBlock::kSubgroup; }
  // The row of its subgroup that a thread sees scores of: threads 2 i and 2 i + 1 have row i.
  kernel::Value row_of_thread() { return writer_.thread() % AttentionBlock::kSubgroup / 2; }
  // Where its eight scores of a tile's row begin: 0 or 8.
  kernel::Value half() { return writer_.thread() % 2 * AttentionBlock::kPack; }

  // Copies `count` rows to shared memory from word `at` on, 0 beyond the last row and column.
  void stage(const MatrixRows& from, kernel::Value first, int count, kernel::Shared to, int at);
  // The tiles of a subgroup's 16 rows of 64 that stage() has copied to word 0.
  Values own_tiles(kernel::Shared from, int width);
  // Adds to sums the product of tiles and a chunk's rows, from `row` on, as columns.
  void multiply_by_rows(kernel::Value sums, const Values& tiles, kernel::Shared chunk, int at, int row, int width);
  // Adds to the sums of each tile of `width` columns the product of the subgroup's 16 rows of weights and the chunk.
  void multiply_weights(const Values& sums, kernel::Shared weights, int count, kernel::Shared chunk, int at, int width);

  // Stores a tile of the subgroup's products where scores() reads them.
  void store_products(kernel::Shared to, int count, int tile, kernel::Value sums);
  // Eight scores of the thread's row, those of tile `tile`, from an array with `count` floats a row.
  Values scores(kernel::Shared from, int count, int tile);
  // Stores eight weights, rounded to the dtype, where multiply_weights() reads them.
  void put_weights(kernel::Shared to, int count, int tile, std::span<const kernel::Value> weights);

  // Stores sums, times a factor of the thread's row where there is one, as rows of a result from `first` on.
  void store(const Values& sums, kernel::Shared scratch, int in_scratch, kernel::Value first, const View& to,
             kernel::Memory memory, kernel::Value begin, const std::function<kernel::Value()>& factor);

 private:
  kernel::Value to_index(kernel::Value number) { return kernel::to(arguments_.index(), number); }

  kernel::Writer& writer_;
  Arguments& arguments_;
  ir::DType dtype_;
};

// e^x for x <= 1, within 3 units in the last place; 0 below -87, where nothing is left beside a sum that has the 1 of
// the greatest score. Half the work of kernel::exp.
kernel::Value exponential(kernel::Value x);

// What becomes of the product of a query and a key.
class AttentionScores {
 public:
  AttentionScores(kernel::Writer& writer, Arguments& arguments, const AttentionProblem& problem);

  // `begins`: of the mask's and the bias's matrices, if there are any.
  struct Score {
    kernel::Value score, is_visible;  // the score is -infinity where it is not visible
  };
  Score operator()(kernel::Value product, kernel::Value query, kernel::Value key,
                   std::span<const kernel::Value> begins) const;

 private:
  kernel::Writer& writer_;
  const AttentionProblem& problem_;
  kernel::Value n_, m_, ahead_;  // ahead: m - n
  kernel::Memory mask_, bias_;
  kernel::Value mask_row_, mask_column_, bias_row_, bias_column_;
};

}  // namespace burn::compile::kernels
