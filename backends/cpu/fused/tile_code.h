// A fused group as straight-line code over one tile: a range of the domain, or some rows of it, that stays in the
// first-level cache from its first instruction to its last.
//
// Values are held in registers: scratch memory of a tile's length, or, without a copy, the place in an array where the
// tile is read or written. 16-bit floats are f32 in registers, rounded after every op as if stored.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/simd/centred_sums.h"
#include "backends/cpu/simd/chain_loops.h"
#include "backends/cpu/simd/pointwise_table.h"
#include "backends/cpu/simd/reduce_table.h"
#include "backends/cpu/simd/row_sums.h"
#include "compile/fusion/group.h"
#include "compile/plan/plan.h"

namespace burn::backends::cpu {

enum class Extent : std::uint8_t {
  full,     // a number per element of the tile
  row,      // a number per row of the tile
  uniform,  // a single number
  total     // a sum over tiles
};

struct TileValue {
  ir::DType stored = ir::DType::f32;  // in arrays
  ir::DType held = ir::DType::f32;    // in registers
  Extent extent = Extent::full;
  bool needs_dense = false;             // it is read element by element: a repeated number must be written out
  std::int32_t read = -1, result = -1;  // which operand or result of the group it is; -1: none
  std::int64_t index_size = -1;         // of a read that is an index: the size of the dim that it indexes; held as i64
  bool streamed_by_loop = false;        // a result that its loop, not a copy from scratch, writes past the caches
  std::int32_t stored_in_result = -1;  // the result whose memory holds this value until the result is written; -1: none
  std::int64_t scratch = -1;  // scratch bytes before it, per element of the tile (full) or per row (row); -1: none
};

struct TileInstruction {
  enum class Kind : std::uint8_t {
    pointwise,    // result = loop(operands)
    random,       // result = its part of the random stream
    convert,      // result = cast(operand)
    round,        // result = operand rounded as if stored in 16 bits; both are the same value
    reduce,       // result[row] = all elements of the row combined; with two operands: their products summed
    repeat,       // result = operand[row] for every element of the row
    pick,         // result[row] = operand's element at index[row]
    row_sum,      // result[row] = the sum of what is computed from the operands, which is also `stored`
    centred_sum,  // the same for the first operand and `centre`[row], which is computed from that row (and the second)
    sum,          // result[column], or the only result, += operand, from tile to tile
  };
  Kind kind = Kind::pointwise;
  std::uint8_t arity = 1;
  static constexpr int kMaxOperands = 5;
  std::int32_t operands[kMaxOperands] = {};
  std::int32_t result = 0;
  std::int32_t node = 0;  // while compiling: of the program; afterwards: the group's member that it is part of
  RunLoop loop = nullptr;
  RunLoop streaming_loop = nullptr;  // the same, writing past the caches; null: none
  Chain chain;  // the functions of a pointwise instruction over f32, if it may become part of another
  CastLoop cast = nullptr, back = nullptr;  // back: from 16 bits, for round
  ReduceLoops reduce;
  DotLoop dot = nullptr;  // of a sum over f32
  RowSumLoop row_sum = nullptr;
  CentredSumLoop centred_sum = nullptr;
  std::int32_t stored = -1;   // of row_sum and centred_sum: the summed values, if they are needed for more than the sum
  std::int32_t centre = -1;   // of centred_sum: the value that holds the centres
  std::int32_t carried = -1;  // of centred_sum: which of the numbers that are carried from tile to tile
  std::int32_t sum = -1;      // which of the code's sums
  ir::RandomFn random_fn = ir::RandomFn::uniform;
  std::uint64_t random_offset = 0;  // blocks, from the start of the program
  std::int64_t random_begin = 0;    // position in the whole value of the domain's first element
};

// A sum over all rows, or over everything. Tiles are run in parts, each with its own totals, which are merged in order
// at the end, so that the result does not depend on which thread ran which part.
struct TileSum {
  std::int32_t value = 0;       // the result
  std::int64_t numbers = 1;     // in the result
  std::int64_t offset = 0;      // of the totals among those of a part, bytes
  std::size_t source_size = 0;  // of an element that is summed
  ReduceLoops loops;
};

struct TileCode {
  ir::Shape domain;
  std::int64_t elements = 0;      // of the domain
  std::int64_t row_size = 1;      // elements
  std::int64_t tile = 0;          // maximum elements per tile: whole rows, if there are rows
  std::int64_t cost = 1;          // of an element, relative to a simple pass over memory
  std::int64_t full_bytes = 0;    // scratch per element of a tile
  std::int64_t row_bytes = 0;     // scratch per row of a tile
  std::vector<TileValue> values;  // the group's reads, then its members
  std::vector<TileInstruction> instructions;
  std::vector<std::int32_t> overwrites;  // per result: the read that it may overwrite, or -1
  std::vector<std::size_t> source_of;    // per value that is a read: its position among the reads
  std::vector<std::size_t> moving;       // values whose location changes from tile to tile: those in arrays
  std::vector<std::size_t> narrowed;     // results that are held in a wider type than stored
  std::vector<TileSum> sums;
  std::int32_t carried = 0;      // numbers that are carried from tile to tile
  std::int64_t total_bytes = 0;  // of a part's totals
  std::int64_t parts = 1;        // if there are sums
  bool is_large = false;         // results that do not overwrite an operand are written past the caches

  bool has_rows() const { return row_size > 1; }
  std::int64_t tiles() const { return (elements + tile - 1) / tile; }
  std::int64_t rows_per_tile() const { return tile / row_size; }
  // Rows that are long enough for a call each: a number per row is then read in place, not written out per element.
  static constexpr std::int64_t kLongRow = 128;
  bool has_long_rows() const { return row_size >= kLongRow; }
  // Rows that are located in arrays at once: all of a tile if they are long, otherwise the tile is one range.
  std::int64_t rows_at_once() const { return has_long_rows() ? rows_per_tile() : 1; }
  // Units of work for threads: tiles, or, if there are sums, parts of several tiles.
  std::int64_t units() const { return sums.empty() ? tiles() : parts; }
  // Distance between values in scratch memory, in elements or, for one number per row, in rows; rounded up so that each
  // value is aligned.
  std::int64_t scratch_stride() const { return (tile + 63) / 64 * 64; }
  std::int64_t row_scratch_stride() const { return (rows_per_tile() + 63) / 64 * 64; }
};

// Rewrites instructions into fewer that compute the same, before scratch memory is assigned.
void improve(TileCode& code, const ir::Program& program);

// Assigns memory to the values of a group with that many reads and results, when its instructions are final and it is
// known whether it is large and which results are streamed by their loops.
void place(TileCode& code, std::size_t reads, std::size_t results);

// Chooses how many elements a tile has and, if there are sums, in how many parts tiles are run. Requires: place() was
// called, and the cost of an element is known.
void choose_tile(TileCode& code);

// The position of each value of a group: its reads in the order of the step, then its members. One table serves all
// groups of a program, one after the other.
class GroupPositions {
 public:
  explicit GroupPositions(const ir::Program& program)
      : inputs_(program.inputs.size()), values_(program.values.size()) {}

  // Requires, for of(): set() was called for this group.
  std::int32_t of(ir::Ref ref) const {
    return (ref.is_input() ? inputs_ : values_)[static_cast<std::size_t>(ref.index())];
  }
  void set(ir::Ref ref, std::int32_t position) {
    (ref.is_input() ? inputs_ : values_)[static_cast<std::size_t>(ref.index())] = position;
  }

 private:
  std::vector<std::int32_t> inputs_, values_;
};

// Refers to nothing of the program, so groups of the same kind may share it (tile_codes.h). `positions`: the group's,
// which the call changes.
// Errors: UNIMPLEMENTED if there is no loop.
Result<TileCode> compile_group(const ir::Program& program, const compile::Group& group, const compile::PlanStep& step,
                               GroupPositions& positions);

}  // namespace burn::backends::cpu
