#include "compile/codegen/kernels/tile_product.h"

#include <algorithm>
#include <array>

#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

constexpr int kSize = kernel::kTileSize;
constexpr int kInPack = 8;  // elements of 16 bytes
constexpr int kDepth = 64;  // that a block loads at once
// Rows and columns of a block; a subgroup of 32 threads has 64 x 32 of the largest one, 32 x 32 of the others.
constexpr int kSubgroup = 32;
constexpr BlockTile tile_of(int rows, int columns, int rows_each, int columns_each) {
  const int subgroups = rows / rows_each * (columns / columns_each) / kSubgroup;
  const int padding = (rows + columns) * kInPack * 2;  // bytes
  return {rows, columns, kDepth, rows_each, columns_each, 1, padding + subgroups * kSize * kSize * 4};
}
constexpr BlockTile kTiles[] = {tile_of(128, 128, 8, 8), tile_of(64, 128, 8, 4), tile_of(64, 64, 8, 4)};

// How the subgroups of a block share its tile.
struct Subgroups {
  int down, across;   // subgroups
  int rows, columns;  // tiles of each

  explicit Subgroups(const BlockTile& tile) {
    const int count = tile.threads() / kSubgroup;
    down = 2, across = count / down;
    rows = tile.rows / down / kSize, columns = tile.columns / across / kSize;
  }
  int count() const { return down * across; }
};

// How a factor lies in memory: its lines are rows of the first factor, columns of the second one.
struct Factor {
  const View& view;
  std::int64_t lines, line_step, depth_step;

  // 16 bytes along the contiguous dim lie within it, and begin at multiples of 16.
  bool is_whole(std::int64_t depth) const {
    if (depth_step != 1 && line_step != 1) return false;
    return has_depth_contiguous() ? lies_in_packs(view, kInPack, depth, line_step)
                                  : lies_in_packs(view, kInPack, lines, depth_step);
  }
  bool has_depth_contiguous() const { return depth_step == 1; }
};

// What the threads of a block load of a factor: 16 bytes each at a time, into registers and from there into a shared
// array, as it lies in memory.
class PackLoader {
 public:
  PackLoader(kernel::Writer& writer, Arguments& arguments, const BlockTile& tile, const Factor& factor, int lines,
             kernel::Memory from, Value begin, Value first)
      : writer_(writer), has_depth_contiguous_(factor.has_depth_contiguous()), from_(from) {
    const int in_line = (has_depth_contiguous_ ? kDepth : lines) / kInPack;  // packs
    pitch_ = (in_line + 1) * 4;                                              // words; 16 bytes more: other banks
    shared_ = writer.shared(ir::DType::u32, std::int64_t{pitch_} * (has_depth_contiguous_ ? lines : kDepth));
    const int count = lines * kDepth / kInPack / tile.threads();
    const Value thread = writer.thread();
    for (int i = 0; i < count; ++i) {
      const Value pack = thread + i * tile.threads(), line = pack / in_line, piece = pack - line * in_line;
      const Value across = to(arguments.index(), piece) * kInPack, down = to(arguments.index(), line);
      Pack one;
      const Value last = arguments.number(factor.lines - (has_depth_contiguous_ ? 1 : kInPack));
      const Value of_line = least(first + (has_depth_contiguous_ ? down : across), last);
      one.begin = begin + (factor.line_step == 1 ? of_line : of_line * arguments.number(factor.line_step));
      one.depth = has_depth_contiguous_ ? across : down;
      one.place = line * pitch_ + piece * 4;
      for (auto& word : one.staged) word = writer.variable(writer.index(0));
      packs_.push_back(one);
    }
    if (factor.depth_step != 1) depth_step_ = arguments.number(factor.depth_step);
  }

  // Loads from a depth on; 0 beyond the end. `inside`: a depth before the end.
  void fetch(Value from, Value inside, Value end) {
    for (const auto& pack : packs_) {
      const Value depth = from + pack.depth, is_inside = depth < end;
      const Value at = select(is_inside, depth, inside);
      const auto words = writer_.load_words(from_, pack.begin + (depth_step_.id < 0 ? at : at * depth_step_));
      for (std::size_t k = 0; k < words.size(); ++k) pack.staged[k].set(select(is_inside, words[k], 0));
    }
  }
  void put() {
    for (const auto& pack : packs_) {
      std::array<Value, 4> words;
      for (std::size_t k = 0; k < words.size(); ++k) words[k] = pack.staged[k].get();
      writer_.store_pack(shared_, pack.place, words);
    }
  }

  // The tile of the lines from `line` on, and of the depths from `depth` on.
  Value tile(ir::DType type, bool is_second, Value line, int depth) {
    const Value index = has_depth_contiguous_ ? line * pitch_ + depth / 2 : line / 2 + depth * pitch_;
    // Lines in memory are rows of the first factor where its depth is contiguous, and columns of the second one.
    return writer_.tile_load(type, {is_second, has_depth_contiguous_ == is_second, shared_.array}, index,
                             writer_.index(pitch_));
  }

 private:
  struct Pack {
    Value begin, depth, place;
    std::array<Variable, 4> staged;
  };

  kernel::Writer& writer_;
  bool has_depth_contiguous_;
  kernel::Memory from_;
  kernel::Shared shared_;
  int pitch_ = 0;
  Value depth_step_;
  std::vector<Pack> packs_;
};

}  // namespace

bool emit_product_in_tiles(Emitter& emit, const ProductOperands& operands) {
  const auto& facts = emit.target().facts();
  const auto type = operands.c.dtype;
  if (type == ir::DType::f16 ? !facts.has_f16_tiles : type != ir::DType::bf16 || !facts.has_bf16_tiles) return false;
  const auto rows = operands.c.shape[operands.c.rank() - 2], columns = operands.c.shape[operands.c.rank() - 1];
  const auto depth = operands.a.shape[operands.a.rank() - 1];
  const MatrixSteps a(operands.a), b(operands.b);
  const Factor first{operands.a, rows, a.row, a.column}, second{operands.b, columns, b.column, b.row};
  constexpr std::int64_t kLeast = 16;
  if (std::min({rows, columns, depth}) < kLeast || !first.is_whole(depth) || !second.is_whole(depth)) return false;
  const auto grid = BlockGrid::choose_of(kTiles, facts, 2, rows, columns, depth, operands.batch().count);
  if (!grid) return false;

  std::optional<View> parts;
  if (grid->parts > 1)
    parts = emit.scratch_value({ir::DType::f32, {grid->parts, grid->groups, grid->rows, grid->columns}});
  kernel::Writer writer(grid->tile.threads());
  const auto most = operands.most(std::max(grid->threads(), parts ? parts->num_elements() : 0));
  Arguments arguments(writer, index_type(most));
  const auto from = arguments.address(operands.a), by = arguments.address(operands.b);
  const auto into = parts ? arguments.address(*parts) : kernel::Memory{};
  std::optional<ProductResult> result;
  if (!parts) result.emplace(writer, arguments, operands);
  const Subgroups subgroups(grid->tile);
  const auto scratch = writer.shared(ir::DType::f32, std::int64_t{subgroups.count()} * kSize * kSize);
  each_block(writer, arguments, *grid, [&](const BlockPlace& place) {
    const auto begins = operands.batch().offsets(arguments, place.group);
    PackLoader of_rows(writer, arguments, grid->tile, first, grid->tile.rows, from, begins[0], place.first_row);
    PackLoader of_columns(writer, arguments, grid->tile, second, grid->tile.columns, by, begins[1], place.first_column);
    const Value thread = writer.thread(), subgroup = thread / kSubgroup, lane = thread % kSubgroup;
    const Value row = subgroup / subgroups.across * (subgroups.rows * kSize);
    const Value column = subgroup % subgroups.across * (subgroups.columns * kSize);
    const auto down = static_cast<std::size_t>(subgroups.rows), across = static_cast<std::size_t>(subgroups.columns);
    std::vector<Value> sums(down * across);
    for (auto& sum : sums) sum = writer.tile_sums();

    // What the next step needs is on its way from memory while this one computes.
    const auto fetch = [&](Value at) {
      of_rows.fetch(at, place.begin, place.end);
      of_columns.fetch(at, place.begin, place.end);
    };
    fetch(place.begin);
    writer.loop(place.begin, place.end, arguments.constant(kDepth), [&](Value at) {
      of_rows.put();
      of_columns.put();
      writer.barrier();
      fetch(at + kDepth);
      for (int k = 0; k < kDepth; k += kSize) {
        std::vector<Value> lefts;
        lefts.reserve(down);
        for (int i = 0; i < subgroups.rows; ++i) lefts.push_back(of_rows.tile(type, false, row + i * kSize, k));
        for (std::size_t j = 0; j < across; ++j) {
          const Value right = of_columns.tile(type, true, column + static_cast<int>(j) * kSize, k);
          for (std::size_t i = 0; i < down; ++i) writer.tile_multiply(sums[i * across + j], lefts[i], right);
        }
      }
      writer.barrier();
    });

    const Value all_rows = arguments.number(rows), all_columns = arguments.number(columns);
    const Value begin = subgroup * (kSize * kSize);
    for (int i = 0; i < subgroups.rows; ++i) {
      for (int j = 0; j < subgroups.columns; ++j) {
        const auto at = static_cast<std::size_t>(i) * across + static_cast<std::size_t>(j);
        writer.tile_store(scratch, begin, writer.index(kSize), sums[at]);
        writer.barrier();
        for (int e = 0; e < kSize * kSize; e += kSubgroup) {
          const Value element = lane + e;
          const auto place_in = [&](Value begin_of, Value tile, Value within) {
            return begin_of + to(arguments.index(), tile + within);
          };
          const Value at_row = place_in(place.first_row, row + i * kSize, element / kSize);
          const Value at_column = place_in(place.first_column, column + j * kSize, element % kSize);
          writer.when(at_row < all_rows && at_column < all_columns, [&] {
            const Value sum = writer.load(scratch, begin + element);
            if (!parts) return result->store(begins, at_row, at_column, sum);
            const Value stack = place.part * arguments.number(grid->groups) + place.group;
            writer.store(into, (stack * all_rows + at_row) * all_columns + at_column, sum);
          });
        }
        writer.barrier();
      }
    }
  });
  arguments.launch(emit, grid->threads());
  if (parts) add_parts(emit, *parts, *grid, operands);
  return true;
}

}  // namespace burn::compile::kernels
