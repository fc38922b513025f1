// Attention by matrix units, without the scores ever being whole in memory (Dao et al., arXiv:2205.14135). A block has
// 64 queries and goes through the keys twice: first for the greatest score of each query, then for the sums of
// the exponentials and of the values that they weigh: relative to the greatest score, so that no sum is scaled anew.
// Weights are rounded to the operands' dtype, everything else is f32.
#include <algorithm>
#include <limits>

#include "base/settings.h"
#include "compile/codegen/kernel/functions.h"
#include "compile/codegen/kernels/attention_tiles.h"
#include "compile/codegen/kernels/lower.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using Block = AttentionBlock;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Few queries leave most of a block's rows empty: all scores in memory are then less work.
constexpr std::int64_t kFewestQueries = 16;
constexpr std::int64_t kMaxColumns =
    128;  // of queries, keys and values: what the tiles of a subgroup have registers for

// What exponents are taken relative to: 0 where nothing was seen.
Value base_of(Value greatest) { return select(greatest == -kInfinity, 0.0F, greatest); }

struct AttentionViews {
  View q, k, v, y, statistics;
};

// The kernel of a block of queries while it is written.
class ForwardBlock {
 public:
  ForwardBlock(kernel::Writer& writer, Arguments& arguments, const AttentionProblem& problem,
               const AttentionViews& views, int chunk, std::span<const kernel::Memory> memory)
      : writer_(writer),
        arguments_(arguments),
        problem_(problem),
        views_(views),
        chunk_(chunk),
        memory_(memory),
        attention_(writer, arguments, views.q.dtype) {}

  // `begins`: of the matrices of q, k, v, y, the statistics, and then of the mask and the bias.
  void write(Value first, const std::vector<Value>& begins) {
    others_ = std::span(begins).subspan(5);
    const auto queries = rows(views_.q, 0, begins);
    keys_ = rows(views_.k, 1, begins);
    values_ = rows(views_.v, 2, begins);
    score_of_.emplace(writer_, arguments_, problem_);
    const int words_d = Block::words_of(Block::in_tiles(problem_.d) * Block::kTile);
    const int words_e = Block::words_of(Block::in_tiles(problem_.e) * Block::kTile);
    shared_ = writer_.shared(ir::DType::u32,
                             std::max(chunk_ * (words_d + words_e), Block::kRows * std::max(words_d, words_e)));
    products_ = writer_.shared(ir::DType::f32, Block::all_rows(Block::floats_of(chunk_)));
    const auto weights = writer_.shared(ir::DType::u32, Block::all_rows(Block::words_of(chunk_)));
    of_values_ = chunk_ * words_d;

    attention_.stage(queries, first, Block::kRows, shared_, 0);
    writer_.barrier();
    tiles_ = attention_.own_tiles(shared_, queries.width);
    const Value row = to(arguments_.index(), attention_.subgroup() * Block::kTile + attention_.row_of_thread());
    query_ = first + row, half_ = to(arguments_.index(), attention_.half());
    end_ = keys_.count;
    if (problem_.causal) {
      const Value seen = first + Block::kRows + arguments_.number(problem_.m - problem_.n);
      end_ = select(seen < 0, arguments_.constant(0), least(seen, keys_.count));
    }
    const Value base = base_of(greatest_score());
    Values sums;
    const Value total = weigh_values(base, weights, sums);
    attention_.store(sums, products_, chunk_, first, views_.y, memory_[3], begins[3],
                     [&] { return select(total == 0.0F, 0.0F, 1.0F / total); });
    writer_.when(query_ < queries.count && half_ == 0, [&] {
      writer_.store(memory_[4], begins[4] + query_ * arguments_.number(MatrixSteps(views_.statistics).row),
                    base + kernel::log(total));
    });
  }

 private:
  MatrixRows rows(const View& view, std::size_t k, const std::vector<Value>& begins) {
    return {memory_[k], begins[k], arguments_.number(MatrixSteps(view).row),
            arguments_.number(view.shape[view.rank() - 2]), static_cast<int>(view.shape[view.rank() - 1])};
  }

  // body(tile, scores): the thread's eight scores of a chunk's tile of keys; then(): after a chunk.
  void each_chunk(bool has_values, const std::function<void(int, const Values&)>& body,
                  const std::function<void()>& then) {
    writer_.loop(arguments_.constant(0), end_, arguments_.constant(chunk_), [&](Value key) {
      writer_.barrier();
      attention_.stage(keys_, key, chunk_, shared_, 0);
      if (has_values) attention_.stage(values_, key, chunk_, shared_, of_values_);
      writer_.barrier();
      for (int j = 0; j < chunk_; j += Block::kTile) {
        const Value sums = writer_.tile_sums();
        attention_.multiply_by_rows(sums, tiles_, shared_, 0, j, static_cast<int>(problem_.d));
        attention_.store_products(products_, chunk_, j / Block::kTile, sums);
      }
      writer_.barrier();
      for (int j = 0; j < chunk_; j += Block::kTile) {
        auto scores = attention_.scores(products_, chunk_, j / Block::kTile);
        for (std::size_t i = 0; i < scores.size(); ++i)
          scores[i] = (*score_of_)(scores[i], query_, key + half_ + (j + static_cast<int>(i)), others_).score;
        body(j / Block::kTile, scores);
      }
      then();
    });
  }

  // Of the thread's query.
  Value greatest_score() {
    const auto greatest = writer_.variable(writer_.constant(ir::DType::f32, -kInfinity));
    each_chunk(
        false,
        [&](int, const Values& scores) {
          Value now = greatest.get();
          for (const auto score : scores) now = select(now < score, score, now);
          greatest.set(now);
        },
        [] {});
    const Value mine = greatest.get(), other = writer_.shuffle_xor(mine, 1);
    return select(mine < other, other, mine);
  }

  // The sum of the exponentials of the thread's query; `sums` become those of the values that they weigh.
  Value weigh_values(Value base, kernel::Shared weights, Values& sums) {
    const auto sum = writer_.variable(writer_.constant(ir::DType::f32, 0.0));
    for (int j = 0; j < Block::in_tiles(problem_.e); ++j) sums.push_back(writer_.tile_sums());
    each_chunk(
        true,
        [&](int tile, const Values& scores) {
          Values all;
          Value total = sum.get();
          for (const auto score : scores) {
            all.push_back(exponential(score - base));
            total = total + all.back();
          }
          sum.set(total);
          attention_.put_weights(weights, chunk_, tile, all);
        },
        [&] {
          writer_.barrier();
          attention_.multiply_weights(sums, weights, chunk_, shared_, of_values_, values_.width);
        });
    const Value part = sum.get();
    return part + writer_.shuffle_xor(part, 1);
  }

  kernel::Writer& writer_;
  Arguments& arguments_;
  const AttentionProblem& problem_;
  const AttentionViews& views_;
  const int chunk_;                               // keys at a time
  const std::span<const kernel::Memory> memory_;  // of q, k, v, y and the statistics
  AttentionWriter attention_;
  std::optional<AttentionScores> score_of_;
  std::span<const Value> others_;  // where the mask and the bias begin
  MatrixRows keys_, values_;
  kernel::Shared shared_, products_;
  int of_values_ = 0;  // where the values are in shared_
  Values tiles_;       // of the queries
  Value query_, half_, end_;
};

}  // namespace

bool has_attention(const DeviceFacts& facts, std::span<const ir::TensorType* const> operands, bool is_grad) {
  if (is_off(Setting::attention)) return false;
  const auto &q = *operands[0], &v = *operands[2];
  const bool has_tiles =
      q.dtype == ir::DType::f16 ? facts.has_f16_tiles : q.dtype == ir::DType::bf16 && facts.has_bf16_tiles;
  if (!has_tiles || facts.subgroup_size != Block::kSubgroup || facts.max_threads < Block::kThreads) return false;
  const int rank = q.shape.rank();
  const auto n = q.shape[rank - 2], m = v.shape[rank - 2], d = q.shape[rank - 1], e = v.shape[rank - 1];
  const auto fits = [](std::int64_t width) { return width > 0 && width % Block::kPack == 0 && width <= kMaxColumns; };
  if (n < kFewestQueries || m == 0 || !fits(d) || !fits(e) || q.num_elements() == 0) return false;
  return attention_chunk(facts, d, e, is_grad) > 0;
}

Status lower(Emitter& emit, const ir::Attention& op, const NodeInPlan& at) {
  const auto q = as_rows(emit, emit.read(at.operand(0))), k = as_rows(emit, emit.read(at.operand(1)));
  const auto v = as_rows(emit, emit.read(at.operand(2)));
  const AttentionViews views{q, k, v, emit.result(at.result()), emit.result(at.result(1))};
  const auto problem = attention_problem(emit, op, at, 3);
  const int chunk = attention_chunk(emit.target().facts(), problem.d, problem.e, false);

  std::vector<const View*> all{&views.q, &views.k, &views.v, &views.y, &views.statistics};
  const auto operands = all.size();
  if (problem.mask) all.push_back(&*problem.mask);
  if (problem.bias) all.push_back(&*problem.bias);
  const ProductBatch batch{all};
  const auto blocks_of_one = (problem.n + Block::kRows - 1) / Block::kRows, blocks = batch.count * blocks_of_one;
  std::int64_t most = blocks * Block::kThreads;
  for (const auto* view : all) most = std::max(most, reach(*view));

  kernel::Writer writer(Block::kThreads, false, emit.target().facts().has_exp2);
  Arguments arguments(writer, index_type(most));
  std::vector<kernel::Memory> memory;
  for (std::size_t i = 0; i < operands; ++i) memory.push_back(arguments.address(*all[i]));
  const Value block = arguments.block();
  writer.when(block < arguments.number(blocks), [&] {
    const Value of_one = arguments.number(blocks_of_one), which = block / of_one;
    // The last queries first: where later keys are hidden, they have the most to do.
    const Value first = (of_one - 1 - (block - which * of_one)) * Block::kRows;
    const auto begins = batch.offsets(arguments, which);
    ForwardBlock(writer, arguments, problem, views, chunk, memory).write(first, begins);
  });
  arguments.launch(emit, blocks * Block::kThreads);
  return {};
}

}  // namespace burn::compile::kernels
