#include "compile/codegen/kernels/attention_tiles.h"

#include <algorithm>
#include <array>
#include <limits>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernel/functions.h"

namespace burn::compile::kernels {

using kernel::Value;
using Block = AttentionBlock;

int attention_chunk(const DeviceFacts& facts, std::int64_t d, std::int64_t e, bool is_grad) {
  for (const int chunk : {32, 16}) {
    const auto tiles_d = Block::in_tiles(d) * Block::kTile, tiles_e = Block::in_tiles(e) * Block::kTile;
    const auto words_d = Block::words_of(tiles_d), words_e = Block::words_of(tiles_e);
    const auto own = Block::kRows * std::max(words_d, words_e), chunks = chunk * (words_d + words_e);
    const auto of_scores = Block::kRows * (Block::floats_of(chunk) + Block::words_of(chunk));
    const auto words = std::max(own, chunks) + (is_grad ? 2 * of_scores + 2 * chunk : of_scores);
    if (std::int64_t{4} * words <= facts.shared_bytes_per_block) return chunk;
  }
  return 0;
}

View as_rows(Emitter& emit, const View& view) {
  const MatrixSteps steps(view);
  if (steps.column == 1 && lies_in_packs(view, Block::kPack, view.shape[view.rank() - 1], steps.row)) return view;
  const View copy = emit.scratch_value({view.dtype, view.shape});
  emit.copy(view, copy);
  return copy;
}

void AttentionWriter::stage(const MatrixRows& from, Value first, int count, kernel::Shared to, int at) {
  const int padded = Block::in_tiles(from.width) * Block::kTile, pitch = Block::words_of(padded);
  const int in_row = padded / Block::kPack, packs = count * in_row;
  for (int i = 0; i < packs; i += Block::kThreads) {
    const Value pack = writer_.thread() + i, line = pack / in_row, piece = (pack - line * in_row) * Block::kPack;
    const auto copy = [&] {
      const Value row = first + to_index(line), column = to_index(piece);
      Value is_inside = row < from.count, of_column = column;
      if (padded != from.width) {
        is_inside = is_inside && column < from.width;
        of_column = least(column, arguments_.constant(from.width - Block::kPack));
      }
      auto words = writer_.load_words(from.memory, from.begin + least(row, from.count - 1) * from.step + of_column);
      for (auto& word : words) word = select(is_inside, word, 0);
      writer_.store_pack(to, line * pitch + piece / 2 + at, words);
    };
    if (i + Block::kThreads <= packs)
      copy();
    else
      writer_.when(pack < packs, copy);
  }
}

Values AttentionWriter::own_tiles(kernel::Shared from, int width) {
  const int tiles = Block::in_tiles(width), pitch = Block::words_of(tiles * Block::kTile);
  Values all;
  for (int k = 0; k < tiles; ++k) {
    const Value index = subgroup() * (Block::kTile * pitch) + k * Block::kTile / 2;
    all.push_back(writer_.tile_load(dtype_, {false, false, from.array}, index, writer_.index(pitch)));
  }
  return all;
}

void AttentionWriter::multiply_by_rows(Value sums, const Values& tiles, kernel::Shared chunk, int at, int row,
                                       int width) {
  const int pitch = Block::words_of(Block::in_tiles(width) * Block::kTile);
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    const Value index = writer_.index(at + row * pitch + static_cast<int>(k) * Block::kTile / 2);
    writer_.tile_multiply(sums, tiles[k],
                          writer_.tile_load(dtype_, {true, true, chunk.array}, index, writer_.index(pitch)));
  }
}

void AttentionWriter::multiply_weights(const Values& sums, kernel::Shared weights, int count, kernel::Shared chunk,
                                       int at, int width) {
  const int pitch = Block::words_of(Block::in_tiles(width) * Block::kTile), of_weights = Block::words_of(count);
  for (int k = 0; k < count; k += Block::kTile) {
    const Value place = subgroup() * (Block::kTile * of_weights) + k / 2;
    const Value left = writer_.tile_load(dtype_, {false, false, weights.array}, place, writer_.index(of_weights));
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const Value index = writer_.index(at + k * pitch + static_cast<int>(j) * Block::kTile / 2);
      writer_.tile_multiply(sums[j], left,
                            writer_.tile_load(dtype_, {true, false, chunk.array}, index, writer_.index(pitch)));
    }
  }
}

void AttentionWriter::store_products(kernel::Shared to, int count, int tile, Value sums) {
  const int pitch = Block::floats_of(count);
  writer_.tile_store(to, subgroup() * (Block::kTile * pitch) + tile * Block::kTile, writer_.index(pitch), sums);
}

Values AttentionWriter::scores(kernel::Shared from, int count, int tile) {
  const int pitch = Block::floats_of(count);
  const Value row = subgroup() * Block::kTile + row_of_thread(), begin = row * pitch + half() + tile * Block::kTile;
  Values all;
  for (int k = 0; k < Block::kPack; k += 4) {
    for (const auto score : writer_.load_pack(from, begin + k)) all.push_back(score);
  }
  return all;
}

void AttentionWriter::put_weights(kernel::Shared to, int count, int tile, std::span<const Value> weights) {
  const auto bits = [&](std::size_t k) { return kernel::to(ir::DType::u32, kernel::to_memory(dtype_, weights[k])); };
  std::array<Value, 4> words;
  for (std::size_t k = 0; k < words.size(); ++k) words[k] = bits(2 * k) | (bits(2 * k + 1) << 16);
  const Value row = subgroup() * Block::kTile + row_of_thread();
  writer_.store_pack(to, row * Block::words_of(count) + half() / 2 + tile * Block::kTile / 2, words);
}

void AttentionWriter::store(const Values& sums, kernel::Shared scratch, int in_scratch, Value first, const View& to,
                            kernel::Memory memory, Value begin, const std::function<Value()>& factor) {
  const auto rows = to.shape[to.rank() - 2], width = to.shape[to.rank() - 1];
  const MatrixSteps steps(to);
  const bool in_packs = steps.column == 1 && lies_in_packs(to, Block::kPack, width, steps.row);
  const int at_once = in_scratch / Block::kTile;
  const Value of_row = arguments_.number(steps.row), of_column = arguments_.number(steps.column);
  const Value count = arguments_.number(rows), all = arguments_.number(width);
  const Value row = first + to_index(subgroup() * Block::kTile + row_of_thread());
  const auto times = factor ? factor() : Value{};
  for (int i = 0; i < static_cast<int>(sums.size()); i += at_once) {
    const int end = std::min(i + at_once, static_cast<int>(sums.size()));
    writer_.barrier();
    for (int j = i; j < end; ++j) store_products(scratch, in_scratch, j - i, sums[static_cast<std::size_t>(j)]);
    writer_.barrier();
    for (int j = i; j < end; ++j) {
      auto elements = scores(scratch, in_scratch, j - i);
      if (factor) {
        for (auto& element : elements) element = element * times;
      }
      const Value column = to_index(half()) + j * Block::kTile;
      const Value place = begin + row * of_row;
      writer_.when(row < count && column < all, [&] {
        if (in_packs) return writer_.store(memory, place + column, elements);
        for (std::size_t k = 0; k < elements.size(); ++k)
          writer_.store(memory, place + (column + static_cast<std::int64_t>(k)) * of_column, elements[k]);
      });
    }
  }
}

Value exponential(Value x) {
  constexpr double kLowest = -87, kLog2E = 1.4426950408889634, kLn2High = 0x1.62e4p-1, kLn2Low = 0x1.7f7d1cp-20;
  if (x.writer->has_exp2()) return unary(kernel::Code::exp2, x * kLog2E);
  const Value is_low = x < kLowest, inside = select(is_low, kLowest, x), n = kernel::rint(inside * kLog2E);
  const Value rest = fused_multiply_add(-n, x.like(kLn2Low), fused_multiply_add(-n, x.like(kLn2High), inside));
  const Value fraction = kernel::polynomial(rest, {1, 1, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720});
  const Value power = bits_as(ir::DType::f32, (to(ir::DType::i32, n) + 127) << 23);
  return select(is_low, 0.0F, fraction * power);
}

AttentionScores::AttentionScores(kernel::Writer& writer, Arguments& arguments, const AttentionProblem& problem)
    : writer_(writer), problem_(problem), n_(arguments.number(problem.n)), m_(arguments.number(problem.m)) {
  if (problem.causal) ahead_ = arguments.number(problem.m - problem.n);
  if (problem.mask) {
    const MatrixSteps steps(*problem.mask);
    mask_ = arguments.address(*problem.mask);
    mask_row_ = arguments.number(steps.row), mask_column_ = arguments.number(steps.column);
  }
  if (problem.bias) {
    const MatrixSteps steps(*problem.bias);
    bias_ = arguments.address(*problem.bias);
    bias_row_ = arguments.number(steps.row), bias_column_ = arguments.number(steps.column);
  }
}

AttentionScores::Score AttentionScores::operator()(Value product, Value query, Value key,
                                                   std::span<const Value> begins) const {
  Value is_visible = query < n_ && key < m_;
  if (problem_.causal) is_visible = is_visible && key <= query + ahead_;
  Value score = product * problem_.scale;
  const Value row = least(query, n_ - 1), column = least(key, m_ - 1);
  std::size_t next = 0;
  if (problem_.mask)
    is_visible = is_visible && !writer_.load(mask_, begins[next++] + row * mask_row_ + column * mask_column_);
  if (problem_.bias) score = score + writer_.load(bias_, begins[next] + row * bias_row_ + column * bias_column_);
  return {select(is_visible, score, -std::numeric_limits<double>::infinity()), is_visible};
}

}  // namespace burn::compile::kernels
