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

// What one of the two kernels computes. A block's own rows are queries with the gradient of their result, or keys with
// their values; it goes through chunks of the others. Its threads see own rows of scores, so that probabilities and
// gradients of scores are, rounded to the operands' dtype, first factors of the products with the others.
struct GradKernel {
  const GradOperands& operands;
  const AttentionProblem& problem;
  bool is_of_keys;
  int chunk;                      // others at a time
  std::span<const View> results;  // the queries' gradient; or the keys' and the values'
};
using RowsPair = std::array<MatrixRows, 2>;

// A block of it while it is written.
class GradBlock {
 public:
  // `memory`, `begins`: of the operands and the results, and where their matrices begin.
  GradBlock(kernel::Writer& writer, Arguments& arguments, const GradKernel& in, std::span<const kernel::Memory> memory,
            std::span<const Value> begins)
      : writer_(writer),
        arguments_(arguments),
        in_(in),
        memory_(memory),
        begins_(begins),
        attention_(writer, arguments, in.operands.q.dtype),
        score_of_(writer, arguments, in.problem) {}

  void write(const RowsPair& of_queries, const RowsPair& of_keys, Value first, std::span<const Value> other_begins) {
    own_ = in_.is_of_keys ? of_keys : of_queries;
    others_ = in_.is_of_keys ? of_queries : of_keys;
    queries_ = of_queries[0].count;
    other_begins_ = other_begins;
    const int chunk = in_.chunk;
    const int words_d = Block::words_of(Block::in_tiles(in_.problem.d) * kTile);
    const int words_e = Block::words_of(Block::in_tiles(in_.problem.e) * kTile);
    shared_ = writer_.shared(ir::DType::u32,
                             std::max(chunk * (words_d + words_e), Block::kRows * std::max(words_d, words_e)));
    for (std::size_t k = 0; k < 2; ++k) {
      products_[k] = writer_.shared(ir::DType::f32, Block::all_rows(Block::floats_of(chunk)));
      weights_[k] = writer_.shared(ir::DType::u32, Block::all_rows(Block::words_of(chunk)));
    }
    of_columns_ = writer_.shared(ir::DType::f32, std::int64_t{2} * chunk);
    places_ = {0, chunk * words_d};

    for (std::size_t k = 0; k < 2; ++k) {
      writer_.barrier();
      attention_.stage(own_[k], first, Block::kRows, shared_, 0);
      writer_.barrier();
      tiles_[k] = attention_.own_tiles(shared_, own_[k].width);
    }
    row_ = first + to(arguments_.index(), attention_.subgroup() * kTile + attention_.row_of_thread());
    half_ = to(arguments_.index(), attention_.half());
    if (!in_.is_of_keys) of_row_ = {statistic(4, row_), statistic(5, row_)};
    sums_.resize(in_.results.size());
    for (std::size_t r = 0; r < sums_.size(); ++r) {
      const auto width = in_.results[r].shape[in_.results[r].rank() - 1];
      for (int j = 0; j < Block::in_tiles(width); ++j) sums_[r].push_back(writer_.tile_sums());
    }

    const auto [begin, end] = range(first);
    writer_.loop(begin, end, arguments_.constant(chunk), [&](Value from) { add_chunk(from); });
    for (std::size_t r = 0; r < sums_.size(); ++r)
      attention_.store(sums_[r], products_[0], chunk, first, in_.results[r], memory_[6 + r], begins_[6 + r], {});
  }

 private:
  static constexpr int kTile = Block::kTile;

  // Where the others begin and end that the block's rows have to do with.
  std::array<Value, 2> range(Value first) {
    const Value none = arguments_.constant(0);
    if (!in_.problem.causal) return {none, arguments_.number(in_.is_of_keys ? in_.problem.n : in_.problem.m)};
    const Value ahead = arguments_.number(in_.problem.m - in_.problem.n);
    if (in_.is_of_keys) {
      const Value begin = first - ahead;
      return {select(begin < 0, none, begin), arguments_.number(in_.problem.n)};
    }
    const Value end = first + Block::kRows + ahead;
    return {none, select(end < 0, none, least(end, arguments_.number(in_.problem.m)))};
  }

  // Of a query: 4: statistics, 5: means.
  Value statistic(std::size_t k, Value query) {
    const auto& view = k == 4 ? in_.operands.statistics : in_.operands.means;
    const Value at = least(query, queries_ - 1) * arguments_.number(MatrixSteps(view).row);
    return writer_.load(memory_[k], begins_[k] + at);
  }

  // The others from `from` on.
  void add_chunk(Value from) {
    const int chunk = in_.chunk;
    writer_.barrier();
    for (std::size_t k = 0; k < 2; ++k) attention_.stage(others_[k], from, chunk, shared_, places_[k]);
    if (in_.is_of_keys) {
      const Value thread = writer_.thread();
      writer_.when(thread < chunk, [&] {
        for (std::size_t k = 0; k < 2; ++k)
          writer_.store(of_columns_, thread + static_cast<int>(k) * chunk,
                        statistic(4 + k, from + to(arguments_.index(), thread)));
      });
    }
    writer_.barrier();
    for (int j = 0; j < chunk; j += kTile) {
      for (std::size_t k = 0; k < 2; ++k) {
        const Value product = writer_.tile_sums();
        attention_.multiply_by_rows(product, tiles_[k], shared_, places_[k], j, own_[k].width);
        attention_.store_products(products_[k], chunk, j / kTile, product);
      }
    }
    writer_.barrier();
    for (int j = 0; j < chunk; j += kTile) put_weights(from, j);
    writer_.barrier();
    for (std::size_t r = 0; r < sums_.size(); ++r)
      attention_.multiply_weights(sums_[r], weights_[r], chunk, shared_, places_[r], others_[r].width);
  }

  // Of the tile of the chunk's others from `j` on.
  void put_weights(Value from, int j) {
    const auto scores = attention_.scores(products_[0], in_.chunk, j / kTile);
    const auto of_weights = attention_.scores(products_[1], in_.chunk, j / kTile);
    std::array<Values, 2> columns;
    for (std::size_t k = 0; k < 2 && in_.is_of_keys; ++k) {
      for (int i = 0; i < Block::kPack; i += 4) {
        const Value place = attention_.half() + (static_cast<int>(k) * in_.chunk + j + i);
        for (const auto one : writer_.load_pack(of_columns_, place)) columns[k].push_back(one);
      }
    }
    Values probabilities, of_scores;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const Value column = from + half_ + (j + static_cast<int>(i));
      const Value statistics = in_.is_of_keys ? columns[0][i] : of_row_[0],
                  mean = in_.is_of_keys ? columns[1][i] : of_row_[1];
      const auto [score, is_visible] = in_.is_of_keys ? score_of_(scores[i], column, row_, other_begins_)
                                                      : score_of_(scores[i], row_, column, other_begins_);
      const Value p = select(is_visible, exponential(score - statistics), 0.0F);
      probabilities.push_back(p);
      of_scores.push_back(select(is_visible, p * (of_weights[i] - mean) * in_.problem.scale, 0.0F));
    }
    attention_.put_weights(weights_[0], in_.chunk, j / kTile, of_scores);
    if (in_.is_of_keys) attention_.put_weights(weights_[1], in_.chunk, j / kTile, probabilities);
  }

  kernel::Writer& writer_;
  Arguments& arguments_;
  const GradKernel& in_;
  const std::span<const kernel::Memory> memory_;
  const std::span<const Value> begins_;
  AttentionWriter attention_;
  const AttentionScores score_of_;
  RowsPair own_, others_;
  Value queries_;                        // their number
  std::span<const Value> other_begins_;  // of the mask and the bias
  kernel::Shared shared_, of_columns_;
  std::array<kernel::Shared, 2> products_, weights_;  // of scores and probabilities; of what is derived of them
  std::array<int, 2> places_{};                       // of the others in shared_
  std::array<Values, 2> tiles_;                       // of the own rows
  Value row_, half_;
  std::array<Value, 2> of_row_;  // statistics of the thread's query, where the own rows are queries
  std::vector<Values> sums_;     // of the results
};

void emit_grad(Emitter& emit, const GradKernel& in) {
  std::vector<const View*> views{&in.operands.q, &in.operands.g,          &in.operands.k,
                                 &in.operands.v, &in.operands.statistics, &in.operands.means};
  for (const auto& result : in.results) views.push_back(&result);
  const auto of_others = views.size();
  if (in.problem.mask) views.push_back(&*in.problem.mask);
  if (in.problem.bias) views.push_back(&*in.problem.bias);
  const ProductBatch batch{views};
  const auto of_one = ((in.is_of_keys ? in.problem.m : in.problem.n) + Block::kRows - 1) / Block::kRows;
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
    const Value first = (in.is_of_keys ? place : count - 1 - place) * Block::kRows;
    const auto begins = batch.offsets(arguments, which);
    const auto rows = [&](std::size_t k) {
      const auto& view = *views[k];
      return MatrixRows{memory[k], begins[k], arguments.number(MatrixSteps(view).row),
                        arguments.number(view.shape[view.rank() - 2]), static_cast<int>(view.shape[view.rank() - 1])};
    };
    const RowsPair of_keys{rows(2), rows(3)}, of_queries{rows(0), rows(1)};
    GradBlock(writer, arguments, in, memory, begins)
        .write(of_queries, of_keys, first, std::span(begins).subspan(of_others));
  });
  arguments.launch(emit, blocks * Block::kThreads);
}

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
  emit_grad(emit, {in, problem, false, chunk, std::span(results).first(1)});
  emit_grad(emit, {in, problem, true, chunk, std::span(results).subspan(1)});
  return {};
}

}  // namespace burn::compile::kernels
