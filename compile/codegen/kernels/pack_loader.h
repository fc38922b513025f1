// The factors of products in tiles of 16-bit floats, and how a block loads them: 16 bytes at a time.
#pragma once

#include <array>
#include <vector>

#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/block_tile.h"
#include "compile/codegen/kernels/product_values.h"

namespace burn::compile::kernels {

// How a factor lies in memory: its lines are rows of the first factor, columns of the second one.
struct Factor {
  static constexpr int kInPack = 8;  // elements of 16 bytes

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

struct Factors {
  explicit Factors(const ProductOperands& operands)
      : depth(operands.a.shape[operands.a.rank() - 1]),
        first(factor(operands.a, operands.c.shape[operands.c.rank() - 2], false)),
        second(factor(operands.b, operands.c.shape[operands.c.rank() - 1], true)) {}

  std::int64_t depth;
  Factor first, second;

 private:
  static Factor factor(const View& view, std::int64_t lines, bool is_second) {
    const MatrixSteps steps(view);
    return {view, lines, is_second ? steps.column : steps.row, is_second ? steps.row : steps.column};
  }
};

// What the threads of a block load of a factor: 16 bytes each at a time, into registers and from there into a shared
// array, as it lies in memory.
class PackLoader {
  static constexpr int kInPack = Factor::kInPack;
  using Value = kernel::Value;

 public:
  PackLoader(kernel::Writer& writer, Arguments& arguments, const BlockTile& tile, const Factor& factor, int lines,
             kernel::Memory from, Value begin, Value first)
      : writer_(writer), has_depth_contiguous_(factor.has_depth_contiguous()), from_(from) {
    const int in_line = (has_depth_contiguous_ ? tile.depth : lines) / kInPack;  // packs
    pitch_ = (in_line + 1) * 4;                                                  // words; 16 bytes more: other banks
    shared_ = writer.shared(ir::DType::u32, std::int64_t{pitch_} * (has_depth_contiguous_ ? lines : tile.depth));
    const int count = lines * tile.depth / kInPack / tile.threads();
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
    std::array<kernel::Variable, 4> staged;
  };

  kernel::Writer& writer_;
  bool has_depth_contiguous_;
  kernel::Memory from_;
  kernel::Shared shared_;
  int pitch_ = 0;  // words from line to line
  Value depth_step_;
  std::vector<Pack> packs_;
};

}  // namespace burn::compile::kernels
