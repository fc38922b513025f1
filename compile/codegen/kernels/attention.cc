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
constexpr std::int64_t kMostColumns =
    128;  // of queries, keys and values: what the tiles of a subgroup have registers for

// What exponents are taken relative to: 0 where nothing was seen.
Value base_of(Value greatest) { return select(greatest == -kInfinity, 0.0F, greatest); }

}  // namespace

bool has_attention(const DeviceFacts& facts, std::span<const ir::TensorType* const> operands, bool is_grad) {
  if (is_off(Setting::attention)) return false;
  const auto &q = *operands[0], &v = *operands[2];
  const bool has_tiles =
      q.dtype == ir::DType::f16 ? facts.has_f16_tiles : q.dtype == ir::DType::bf16 && facts.has_bf16_tiles;
  if (!has_tiles || facts.subgroup_size != Block::kSubgroup || facts.max_threads < Block::kThreads) return false;
  const int rank = q.shape.rank();
  const auto n = q.shape[rank - 2], m = v.shape[rank - 2], d = q.shape[rank - 1], e = v.shape[rank - 1];
  const auto fits = [](std::int64_t width) { return width > 0 && width % Block::kPack == 0 && width <= kMostColumns; };
  if (n < kFewestQueries || m == 0 || !fits(d) || !fits(e) || q.num_elements() == 0) return false;
  return attention_chunk(facts, d, e, is_grad) > 0;
}

Status lower(Emitter& emit, const ir::Attention& op, const NodeInPlan& at) {
  const auto q = as_rows(emit, emit.read(at.operand(0))), k = as_rows(emit, emit.read(at.operand(1)));
  const auto v = as_rows(emit, emit.read(at.operand(2)));
  const auto y = emit.result(at.result()), statistics = emit.result(at.result(1));
  const auto problem = attention_problem(emit, op, at, 3);
  const int chunk = attention_chunk(emit.target().facts(), problem.d, problem.e, false);

  std::vector<const View*> views{&q, &k, &v, &y, &statistics};
  if (problem.mask) views.push_back(&*problem.mask);
  if (problem.bias) views.push_back(&*problem.bias);
  const ProductBatch batch{views};
  const auto blocks_of_one = (problem.n + Block::kRows - 1) / Block::kRows, blocks = batch.count * blocks_of_one;
  std::int64_t most = blocks * Block::kThreads;
  for (const auto* view : views) most = std::max(most, reach(*view));

  kernel::Writer writer(Block::kThreads, false, emit.target().facts().has_exp2);
  Arguments arguments(writer, index_type(most));
  AttentionWriter attention(writer, arguments, q.dtype);
  const auto of_q = arguments.address(q), of_k = arguments.address(k), of_v = arguments.address(v);
  const auto of_y = arguments.address(y), of_statistics = arguments.address(statistics);
  const Value block = arguments.block();
  writer.when(block < arguments.number(blocks), [&] {
    const Value of_one = arguments.number(blocks_of_one), which = block / of_one;
    // The last queries first: where later keys are hidden, they have the most to do.
    const Value first = (of_one - 1 - (block - which * of_one)) * Block::kRows;
    const auto begins = batch.offsets(arguments, which);
    const auto others = std::span(begins).subspan(5);
    const auto rows = [&](kernel::Memory memory, const View& view, std::size_t begin) {
      return MatrixRows{memory, begins[begin], arguments.number(MatrixSteps(view).row),
                        arguments.number(view.shape[view.rank() - 2]), static_cast<int>(view.shape[view.rank() - 1])};
    };
    const auto queries = rows(of_q, q, 0), keys = rows(of_k, k, 1), values = rows(of_v, v, 2);
    const AttentionScores score_of(writer, arguments, problem);
    const int words_d = Block::words_of(Block::in_tiles(problem.d) * Block::kTile);
    const int words_e = Block::words_of(Block::in_tiles(problem.e) * Block::kTile);
    const auto shared =
        writer.shared(ir::DType::u32, std::max(chunk * (words_d + words_e), Block::kRows * std::max(words_d, words_e)));
    const auto products = writer.shared(ir::DType::f32, Block::all_rows(Block::floats_of(chunk)));
    const auto weights = writer.shared(ir::DType::u32, Block::all_rows(Block::words_of(chunk)));
    const int of_values = chunk * words_d;

    attention.stage(queries, first, Block::kRows, shared, 0);
    writer.barrier();
    const auto tiles = attention.own_tiles(shared, queries.width);
    const Value row = to(arguments.index(), attention.subgroup() * Block::kTile + attention.row_of_thread());
    const Value query = first + row, half = to(arguments.index(), attention.half());
    Value end = keys.count;
    if (problem.causal) {
      const Value seen = first + Block::kRows + arguments.number(problem.m - problem.n);
      end = select(seen < 0, arguments.constant(0), least(seen, keys.count));
    }
    // body(tile, scores): the thread's eight scores of a chunk's tile of keys.
    const auto each_chunk = [&](bool has_values, const std::function<void(int, const Values&)>& body,
                                const std::function<void()>& then) {
      writer.loop(arguments.constant(0), end, arguments.constant(chunk), [&](Value key) {
        writer.barrier();
        attention.stage(keys, key, chunk, shared, 0);
        if (has_values) attention.stage(values, key, chunk, shared, of_values);
        writer.barrier();
        for (int j = 0; j < chunk; j += Block::kTile) {
          const Value sums = writer.tile_sums();
          attention.multiply_by_rows(sums, tiles, shared, 0, j, queries.width);
          attention.store_products(products, chunk, j / Block::kTile, sums);
        }
        writer.barrier();
        for (int j = 0; j < chunk; j += Block::kTile) {
          auto scores = attention.scores(products, chunk, j / Block::kTile);
          for (std::size_t i = 0; i < scores.size(); ++i)
            scores[i] = score_of(scores[i], query, key + half + (j + static_cast<int>(i)), others).score;
          body(j / Block::kTile, scores);
        }
        then();
      });
    };

    const auto greatest = writer.variable(writer.constant(ir::DType::f32, -kInfinity));
    each_chunk(
        false,
        [&](int, const Values& scores) {
          Value now = greatest.get();
          for (const auto score : scores) now = select(now < score, score, now);
          greatest.set(now);
        },
        [] {});
    const Value mine = greatest.get(), other = writer.shuffle_xor(mine, 1);
    const Value base = base_of(select(mine < other, other, mine));
    const auto sum = writer.variable(writer.constant(ir::DType::f32, 0.0));
    Values sums;
    for (int j = 0; j < Block::in_tiles(problem.e); ++j) sums.push_back(writer.tile_sums());
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
          attention.put_weights(weights, chunk, tile, all);
        },
        [&] {
          writer.barrier();
          attention.multiply_weights(sums, weights, chunk, shared, of_values, values.width);
        });
    const Value part = sum.get(), total = part + writer.shuffle_xor(part, 1);
    attention.store(sums, products, chunk, first, y, of_y, begins[3],
                    [&] { return select(total == 0.0F, 0.0F, 1.0F / total); });
    writer.when(query < queries.count && half == 0, [&] {
      writer.store(of_statistics, begins[4] + query * arguments.number(MatrixSteps(statistics).row),
                   base + kernel::log(total));
    });
  });
  arguments.launch(emit, blocks * Block::kThreads);
  return {};
}

}  // namespace burn::compile::kernels
