// A fused group as straight-line code over one tile: a stretch of the domain, or some rows of it, that stays in the
// first-level cache from its first instruction to its last.
//
// Values live in registers: scratch memory of a tile's length, or, without a copy, the very place in an array where
// the tile is read from or written to. 16-bit floats are f32 in registers, rounded after every op as if stored.
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
  full,
  row,
  uniform,
  total
};  // elements of a tile; rows of it; one; a sum over tiles

struct TileValue {
  ir::DType stored = ir::DType::f32;  // in arrays
  ir::DType held = ir::DType::f32;    // in registers
  Extent extent = Extent::full;
  bool wants_all = false;               // it is read element after element: a repeated number must be written out
  std::int32_t read = -1, result = -1;  // which operand or result of the group it is, if any
  std::int64_t index_size = -1;         // a read that is an index, of something of this size; held as i64
  bool streams_itself = false;  // a result that its instruction, not a copy from scratch, writes past the caches
  std::int32_t lies_in = -1;    // a result's value, in whose place it is until that is written over it
  std::int64_t scratch = -1;    // bytes per element of the tile (full) or per row (row) before it; -1: none
};

struct TileInstruction {
  enum class Kind : std::uint8_t {
    pointwise,    // result = loop(operands)
    random,       // result = its part of the stream
    convert,      // result = cast(operand)
    round,        // result = operand as if stored in 16 bits; both are the same value
    reduce,       // result[row] = all elements of the row combined; of two operands: their products summed
    repeat,       // result = operand[row] for every element of the row
    pick,         // result[row] = operand's element at index[row]
    row_sum,      // result[row] = what is computed of the operands, which is also `stored`, summed
    centred_sum,  // the same of the first operand and `centre`[row], which is combined of that row (and the second)
    sum,          // result[column], or the only result, += operand, from tile to tile
  };
  Kind kind = Kind::pointwise;
  std::uint8_t arity = 1;
  static constexpr int kMaxOperands = 5;
  std::int32_t operands[kMaxOperands] = {};
  std::int32_t result = 0;
  std::int32_t node = 0;  // of the program, while it is compiled; then which of the group's members it is part of
  RunLoop loop = nullptr;
  RunLoop streaming_loop = nullptr;  // the same, past the caches, if there is one
  Chain chain;  // what a pointwise instruction over f32 is made of, if it may become part of another
  CastLoop cast = nullptr, back = nullptr;  // back: from 16 bits, for round
  ReduceLoops reduce;
  DotLoop dot = nullptr;  // of a sum over f32
  RowSumLoop row_sum = nullptr;
  CentredSumLoop centred_sum = nullptr;
  std::int32_t stored = -1;   // of row_sum and centred_sum: the value, where it is wanted for more than its sum
  std::int32_t centre = -1;   // of centred_sum: the value
  std::int32_t carried = -1;  // of centred_sum: which of the numbers that go from tile to tile
  std::int32_t sum = -1;      // which of the code's sums
  ir::RandomFn random_fn = ir::RandomFn::uniform;
  std::uint64_t random_offset = 0;  // blocks, from the start of the program
  std::int64_t random_begin = 0;    // position in the whole value of the domain's first element
};

// A sum over all rows, or everything. Tiles are run in parts, each of which has totals of its own that are merged in
// order at the end, so that the result does not depend on which thread ran what.
struct TileSum {
  std::int32_t value = 0;       // the result's
  std::int64_t numbers = 1;     // in the result
  std::int64_t offset = 0;      // of the totals, bytes into those of a part
  std::size_t source_size = 0;  // of an element that is summed
  ReduceLoops loops;
};

struct TileCode {
  ir::Shape domain;
  std::int64_t elements = 0;      // of the domain
  std::int64_t row_size = 1;      // elements
  std::int64_t tile = 0;          // elements per tile at most: whole rows, where there are rows
  std::int64_t cost = 1;          // of an element, compared with a simple pass over memory
  std::int64_t full_bytes = 0;    // scratch per element of a tile
  std::int64_t row_bytes = 0;     // scratch per row of a tile
  std::vector<TileValue> values;  // the group's reads, then its members
  std::vector<TileInstruction> instructions;
  std::vector<std::int32_t> overwrites;  // per result: the read that it may be written over, or -1
  std::vector<std::size_t> source_of;    // per value that is a read: how many are before it
  std::vector<std::size_t> moving;       // values that lie elsewhere for every tile: in arrays
  std::vector<std::size_t> narrowed;     // results that are held wider than they are stored
  std::vector<TileSum> sums;
  std::int32_t carried = 0;      // numbers that go from tile to tile
  std::int64_t total_bytes = 0;  // of a part's totals
  std::int64_t parts = 1;        // where there are sums
  bool is_large = false;         // results that are not written over an operand are written past the caches

  bool has_rows() const { return row_size > 1; }
  std::int64_t tiles() const { return (elements + tile - 1) / tile; }
  std::int64_t rows_per_tile() const { return tile / row_size; }
  // Rows worth a call each: a number for each row is read where it is, not written out for every element.
  static constexpr std::int64_t kLongRow = 128;
  bool has_long_rows() const { return row_size >= kLongRow; }
  // Stretches of a tile that lie in arrays one by one.
  std::int64_t rows_at_once() const { return has_long_rows() ? rows_per_tile() : 1; }
  // What threads take at a time: tiles, or parts of them.
  std::int64_t units() const { return sums.empty() ? tiles() : parts; }
  // How many elements (one for each row) apart values lie in scratch memory: so many that each is aligned, whatever is
  // before it.
  std::int64_t scratch_stride() const { return (tile + 63) / 64 * 64; }
  std::int64_t row_scratch_stride() const { return (rows_per_tile() + 63) / 64 * 64; }
};

// Rewrites instructions into fewer that compute the same, before scratch is handed out.
void improve(TileCode& code, const ir::Program& program);

// Says where values lie, of a group of so many reads and results, when its instructions are final and it is known
// whether it is large and which results stream themselves.
void place(TileCode& code, std::size_t reads, std::size_t results);

// Chooses how many elements a tile has, and in how many parts tiles are run where there are sums: when it is known
// where values lie, and what an element costs.
void choose_tile(TileCode& code);

// The position of each value of a group: its reads in the order of the step, then its members. One table serves all
// groups of a program, one after the other.
class GroupPositions {
 public:
  explicit GroupPositions(const ir::Program& program)
      : inputs_(program.inputs.size()), values_(program.values.size()) {}

  // Requires, of of(): set for this group.
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
// which it uses up.
// Errors: UNIMPLEMENTED where there is no loop.
Result<TileCode> compile_group(const ir::Program& program, const compile::Group& group, const compile::PlanStep& step,
                               GroupPositions& positions);

}  // namespace burn::backends::cpu
