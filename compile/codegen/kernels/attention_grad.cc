// The gradients of attention by matrix units (Dao et al., arXiv:2205.14135): probabilities are computed anew from the
// statistics of the softmax. One kernel has 64 queries in a block and makes their gradient; the other has 64 keys and
// makes those of keys and values. Nothing is added by several blocks, so that the same operands give the same bits.
#include <algorithm>

#include "compile/codegen/kernels/attention_tiles.h"
#include "compile/codegen/kernels/lower.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using Block = AttentionBlock;

// The operands, and for each query the sum of the products of the result and its gradient.
struct GradOperands {
  View q, k, v, y, statistics, g, means;
};

// means[..., n, 1] = sum over the columns of y g: eight threads side by side have a row.
void emit_means(Emitter& emit, const GradOperands& in) {
  constexpr int kThreads = 128, kOfRow = 8;
  const View* const views[] = {&in.y, &in.g, &in.means};
  const ProductBatch batch{views};
  const auto rows = in.y.shape[in.y.rank() - 2], width = in.y.shape[in.y.rank() - 1],
             threads = in.means.num_elements() * kOfRow;
  std::int64_t most = threads + kThreads;
  for (const auto* view : views) most = std::max(most, reach(*view));
  kernel::Writer writer(kThreads);
  Arguments arguments(writer, index_type(most));
  const auto of_y = arguments.address(in.y), of_g = arguments.address(in.g), into = arguments.address(in.means);
  const Value count = arguments.number(rows), all = arguments.number(in.means.num_elements());
  // Threads beyond the end compute the last row once more: all of a subgroup reach the exchange.
  const Value position = arguments.position() / kOfRow, line = least(position, all - 1);
  const Value lane = to(arguments.index(), writer.thread() % kOfRow), which = line / count, row = line - which * count;
  const auto begins = batch.offsets(arguments, which);
  const Value y = begins[0] + row * arguments.number(MatrixSteps(in.y).row);
  const Value g = begins[1] + row * arguments.number(MatrixSteps(in.g).row);
  const auto sum = writer.variable(writer.constant(ir::DType::f32, 0.0));
  writer.loop(lane * Block::kPack, arguments.number(width), arguments.constant(std::int64_t{kOfRow} * Block::kPack),
              [&](Value column) {
                const auto left = writer.load(of_y, y + column, Block::kPack),
                           right = writer.load(of_g, g + column, Block::kPack);
                Value total = sum.get();
                for (std::size_t i = 0; i < left.size(); ++i) total = total + left[i] * right[i];
                sum.set(total);
              });
  Value total = sum.get();
  for (int mask = kOfRow / 2; mask > 0; mask /= 2) total = total + writer.shuffle_xor(total, mask);
  writer.when(position < all && lane == 0, [&] { writer.store(into, begins[2] + row, total); });
  arguments.launch(emit, threads);
}

// One of the two kernels. A block's own rows are queries with the gradient of their result, or keys with their values;
// it goes through chunks of the others. Its threads see own rows of scores, so that probabilities and gradients of
// scores are, rounded to the operands' dtype, first factors of the products with the others.
class GradKernel {
 public:
  GradKernel(const GradOperands& in, const AttentionProblem& problem, bool is_of_keys, int chunk,
             std::span<const View> results)
      : in_(in), problem_(problem), is_of_keys_(is_of_keys), chunk_(chunk), results_(results) {}

  void emit(Emitter& emit) const {
    std::vector<const View*> views{&in_.q, &in_.g, &in_.k, &in_.v, &in_.statistics, &in_.means};
    for (const auto& result : results_) views.push_back(&result);
    const auto of_others = views.size();
    if (problem_.mask) views.push_back(&*problem_.mask);
    if (problem_.bias) views.push_back(&*problem_.bias);
    const ProductBatch batch{views};
    const auto of_one = ((is_of_keys_ ? problem_.m : problem_.n) + Block::kRows - 1) / Block::kRows;
    const auto blocks = batch.count * of_one;
    std::int64_t most = blocks * Block::kThreads;
    for (const auto* view : views) most = std::max(most, reach(*view));
    kernel::Writer writer(Block::kThreads, false, emit.target().facts().has_exp2);
    Arguments arguments(writer, index_type(most));
    std::vector<kernel::Memory> memory;
    for (std::size_t k = 0; k < of_others; ++k) memory.push_back(arguments.address(*views[k]));
    const Value block = arguments.block();
    writer.when(block < arguments.number(blocks), [&] {
      const Value count = arguments.number(of_one), which = block / count, place = block - which * count;
      // What has most to do first, where later keys are hidden: early keys, late queries.
      const Value first = (is_of_keys_ ? place : count - 1 - place) * Block::kRows;
      const auto begins = batch.offsets(arguments, which);
      const auto rows = [&](std::size_t k) {
        const auto& view = *views[k];
        return MatrixRows{memory[k], begins[k], arguments.number(MatrixSteps(view).row),
                          arguments.number(view.shape[view.rank() - 2]), static_cast<int>(view.shape[view.rank() - 1])};
      };
      write_block(writer, arguments, {rows(0), rows(1)}, {rows(2), rows(3)}, first, memory, begins,
                  std::span(begins).subspan(of_others));
    });
    arguments.launch(emit, blocks * Block::kThreads);
  }

 private:
  using Pair = std::array<MatrixRows, 2>;

  // Where the others begin and end that the block's rows have to do with.
  std::array<Value, 2> range(Arguments& arguments, Value first) const {
    const Value none = arguments.constant(0);
    if (!problem_.causal) return {none, arguments.number(is_of_keys_ ? problem_.n : problem_.m)};
    const Value ahead = arguments.number(problem_.m - problem_.n);
    if (is_of_keys_) {
      const Value begin = first - ahead;
      return {select(begin < 0, none, begin), arguments.number(problem_.n)};
    }
    const Value end = first + Block::kRows + ahead;
    return {none, select(end < 0, none, least(end, arguments.number(problem_.m)))};
  }

  void write_block(kernel::Writer& writer, Arguments& arguments, const Pair& of_queries, const Pair& of_keys,
                   Value first, std::span<const kernel::Memory> memory, const std::vector<Value>& begins,
                   std::span<const Value> other_begins) const {
    const auto &own = is_of_keys_ ? of_keys : of_queries, &others = is_of_keys_ ? of_queries : of_keys;
    const auto kTile = Block::kTile;
    const int chunk = chunk_;
    AttentionWriter attention(writer, arguments, in_.q.dtype);
    const AttentionScores score_of(writer, arguments, problem_);
    const int words_d = Block::words_of(Block::in_tiles(problem_.d) * kTile);
    const int words_e = Block::words_of(Block::in_tiles(problem_.e) * kTile);
    const auto shared =
        writer.shared(ir::DType::u32, std::max(chunk * (words_d + words_e), Block::kRows * std::max(words_d, words_e)));
    std::array<kernel::Shared, 2> products, weights;  // of scores and probabilities; of what is derived of them
    for (std::size_t k = 0; k < 2; ++k) {
      products[k] = writer.shared(ir::DType::f32, Block::all_rows(Block::floats_of(chunk)));
      weights[k] = writer.shared(ir::DType::u32, Block::all_rows(Block::words_of(chunk)));
    }
    const auto of_columns = writer.shared(ir::DType::f32, std::int64_t{2} * chunk);
    const std::array<int, 2> places{0, chunk * words_d};

    std::array<Values, 2> tiles;
    for (std::size_t k = 0; k < 2; ++k) {
      writer.barrier();
      attention.stage(own[k], first, Block::kRows, shared, 0);
      writer.barrier();
      tiles[k] = attention.own_tiles(shared, own[k].width);
    }
    const Value row = first + to(arguments.index(), attention.subgroup() * kTile + attention.row_of_thread());
    const Value half = to(arguments.index(), attention.half());
    const auto statistic = [&](std::size_t k, Value query) {  // 4: statistics, 5: means
      const auto& view = k == 4 ? in_.statistics : in_.means;
      const Value at = least(query, of_queries[0].count - 1) * arguments.number(MatrixSteps(view).row);
      return writer.load(memory[k], begins[k] + at);
    };
    std::array<Value, 2> of_row;
    if (!is_of_keys_) of_row = {statistic(4, row), statistic(5, row)};
    std::vector<Values> sums(results_.size());
    for (std::size_t r = 0; r < sums.size(); ++r) {
      const auto width = results_[r].shape[results_[r].rank() - 1];
      for (int j = 0; j < Block::in_tiles(width); ++j) sums[r].push_back(writer.tile_sums());
    }

    const auto [begin, end] = range(arguments, first);
    writer.loop(begin, end, arguments.constant(chunk), [&](Value from) {
      writer.barrier();
      for (std::size_t k = 0; k < 2; ++k) attention.stage(others[k], from, chunk, shared, places[k]);
      if (is_of_keys_) {
        const Value thread = writer.thread();
        writer.when(thread < chunk, [&] {
          for (std::size_t k = 0; k < 2; ++k)
            writer.store(of_columns, thread + static_cast<int>(k) * chunk,
                         statistic(4 + k, from + to(arguments.index(), thread)));
        });
      }
      writer.barrier();
      for (int j = 0; j < chunk; j += kTile) {
        for (std::size_t k = 0; k < 2; ++k) {
          const Value product = writer.tile_sums();
          attention.multiply_by_rows(product, tiles[k], shared, places[k], j, own[k].width);
          attention.store_products(products[k], chunk, j / kTile, product);
        }
      }
      writer.barrier();
      for (int j = 0; j < chunk; j += kTile) {
        const auto scores = attention.scores(products[0], chunk, j / kTile);
        const auto of_weights = attention.scores(products[1], chunk, j / kTile);
        std::array<Values, 2> columns;
        for (std::size_t k = 0; k < 2 && is_of_keys_; ++k) {
          for (int i = 0; i < Block::kPack; i += 4) {
            const Value place = attention.half() + (static_cast<int>(k) * chunk + j + i);
            for (const auto one : writer.load_pack(of_columns, place)) columns[k].push_back(one);
          }
        }
        Values probabilities, of_scores;
        for (std::size_t i = 0; i < scores.size(); ++i) {
          const Value column = from + half + (j + static_cast<int>(i));
          const Value statistics = is_of_keys_ ? columns[0][i] : of_row[0],
                      mean = is_of_keys_ ? columns[1][i] : of_row[1];
          const auto [score, is_visible] = is_of_keys_ ? score_of(scores[i], column, row, other_begins)
                                                       : score_of(scores[i], row, column, other_begins);
          const Value p = select(is_visible, exponential(score - statistics), 0.0F);
          probabilities.push_back(p);
          of_scores.push_back(select(is_visible, p * (of_weights[i] - mean) * problem_.scale, 0.0F));
        }
        attention.put_weights(weights[0], chunk, j / kTile, of_scores);
        if (is_of_keys_) attention.put_weights(weights[1], chunk, j / kTile, probabilities);
      }
      writer.barrier();
      for (std::size_t r = 0; r < sums.size(); ++r)
        attention.multiply_weights(sums[r], weights[r], chunk, shared, places[r], others[r].width);
    });
    for (std::size_t r = 0; r < sums.size(); ++r)
      attention.store(sums[r], products[0], chunk, first, results_[r], memory[6 + r], begins[6 + r], {});
  }

  const GradOperands& in_;
  const AttentionProblem& problem_;
  bool is_of_keys_;
  int chunk_;                      // others at a time
  std::span<const View> results_;  // the queries' gradient; or the keys' and the values'
};

}  // namespace

Status lower(Emitter& emit, const ir::AttentionGrad& op, const NodeInPlan& at) {
  const auto rows = [&](int k) { return as_rows(emit, emit.read(at.operand(k))); };
  GradOperands in{rows(0), rows(1), rows(2), rows(3), emit.read(at.operand(4)), rows(5), {}};
  in.means = emit.scratch_value({ir::DType::f32, in.statistics.shape});
  const auto problem = attention_problem(emit, op, at, 6);
  const int chunk = attention_chunk(emit.target().facts(), problem.d, problem.e, true);
  emit_means(emit, in);
  std::vector<View> results;
  for (int k = 0; k < 3; ++k) {
    const auto place = emit.place(at.result(k));
    if (place) emit.set_in_place(at.result(k));
    results.push_back(place ? *place : emit.result(at.result(k)));
  }
  GradKernel(in, problem, false, chunk, std::span(results).first(1)).emit(emit);
  GradKernel(in, problem, true, chunk, std::span(results).subspan(1)).emit(emit);
  return {};
}

}  // namespace burn::compile::kernels
