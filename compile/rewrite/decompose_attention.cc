// Attention with all its scores in memory.
#include <limits>
#include <optional>
#include <utility>

#include "compile/rewrite/decompose_rules.h"

namespace burn::compile::decomposition {
namespace {

using ir::DType;
using ir::PointwiseFn;
using ir::ReduceFn;
using ir::Ref;

ir::Shape with(ir::Shape shape, std::int64_t rows, std::int64_t columns) {
  shape[shape.rank() - 2] = rows;
  shape[shape.rank() - 1] = columns;
  return shape;
}

// The operands, in the dtype that is computed in.
struct Problem {
  Composer& to;
  DType dtype, computed;
  ir::Shape batch;  // q's shape, of which the last two dims are others'
  std::int64_t n, m, d, e;
  double scale;
  bool causal;
  Ref q, k, v;
  std::optional<Ref> mask, bias;

  template <typename Op>
  Problem(Composer& composer, const Op& op, Operands in, std::size_t required)
      : to(composer), scale(op.scale), causal(op.causal) {
    const auto &of_q = to.type_of(in[0]), &of_v = to.type_of(in[2]);
    dtype = of_q.dtype, computed = ir::compute_dtype(dtype), batch = of_q.shape;
    const int rank = batch.rank();
    n = batch[rank - 2], d = batch[rank - 1], m = of_v.shape[rank - 2], e = of_v.shape[rank - 1];
    for (const auto ref : in.subspan(required)) (ir::is_bool(to.type_of(ref).dtype) ? mask : bias) = ref;
    q = as_computed(in[0]), k = as_computed(in[1]), v = as_computed(in[2]);
  }

  bool is_empty() const { return n == 0 || m == 0 || ir::num_elements(with(batch, 1, 1)) == 0; }
  Ref as_computed(Ref x) const { return to.cast(x, dtype, computed); }
  Ref transposed(Ref x) const {
    ir::Dims axes;
    for (int i = 0; i < batch.rank(); ++i) axes.push_back(i);
    std::swap(axes[batch.rank() - 2], axes[batch.rank() - 1]);
    return to.add(ir::Permute{axes}, {x});
  }
  Ref over_keys(ReduceFn fn, Ref x) const { return to.add(ir::Reduce{fn, {batch.rank() - 1}}, {x}); }
  Ref to_scores(Ref x) const { return to.add(ir::Expand{with(batch, n, m)}, {x}); }

  // Which keys a query does not see; nothing: it sees all.
  std::optional<Ref> hidden() const {
    if (!causal) return mask;
    const auto last_seen = to.add(PointwiseFn::add, {to.add(ir::Iota{DType::i64, n}, {}), to.integer(m - n)});
    const auto later = to.add(PointwiseFn::greater, {to_scores(to.add(ir::Iota{DType::i64, m}, {})),
                                                     to_scores(to.add(ir::Reshape{{n, 1}}, {last_seen}))});
    return mask ? to.add(PointwiseFn::bool_or, {*mask, later}) : later;
  }

  // What each query gives each key, all 0 where it sees none; and the logarithm of the sum of its exponentials.
  struct Softmax {
    Ref probabilities, statistics;
  };
  // Requires: !is_empty().
  Softmax softmax() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto zero = to.number(computed, 0), nothing = to.number(computed, -kInfinity);
    auto scores = to.add(PointwiseFn::mul, {to.add(ir::MatMul{}, {q, transposed(k)}), to.number(computed, scale)});
    if (bias) scores = to.add(PointwiseFn::add, {scores, as_computed(*bias)});
    if (const auto unseen = hidden()) scores = to.add(PointwiseFn::select, {*unseen, nothing, scores});
    auto largest = over_keys(ReduceFn::max, scores);
    largest = to.add(PointwiseFn::select, {to.add(PointwiseFn::equal, {largest, nothing}), zero, largest});
    const auto p = to.add(PointwiseFn::exp, {to.add(PointwiseFn::sub, {scores, to_scores(largest)})});
    const auto sum = over_keys(ReduceFn::sum, p);
    const auto divisor =
        to.add(PointwiseFn::select, {to.add(PointwiseFn::equal, {sum, zero}), to.number(computed, 1), sum});
    return {to.add(PointwiseFn::div, {p, to_scores(divisor)}),
            to.add(PointwiseFn::add, {largest, to.add(PointwiseFn::log, {sum})})};
  }
};

}  // namespace

Results compose(Composer& to, const ir::Attention& op, Operands in) {
  const Problem x(to, op, in, 3);
  if (x.is_empty()) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return {to.filled(x.dtype, 0, with(x.batch, x.n, x.e)), to.filled(x.computed, -kInfinity, with(x.batch, x.n, 1))};
  }
  const auto softmax = x.softmax();
  return {to.cast(to.add(ir::MatMul{}, {softmax.probabilities, x.v}), x.computed, x.dtype), softmax.statistics};
}

Results compose(Composer& to, const ir::AttentionGrad& op, Operands in) {
  const Problem x(to, op, in, 6);
  if (x.is_empty()) {
    return {to.filled(x.dtype, 0, with(x.batch, x.n, x.d)), to.filled(x.dtype, 0, with(x.batch, x.m, x.d)),
            to.filled(x.dtype, 0, with(x.batch, x.m, x.e))};
  }
  const auto y = x.as_computed(in[3]),
             g = x.as_computed(in[5]);  // in[4], the statistics, are made anew with the scores
  const auto p = x.softmax().probabilities;
  const auto of_p = to.add(ir::MatMul{}, {g, x.transposed(x.v)});
  const auto mean = x.over_keys(ReduceFn::sum, to.add(PointwiseFn::mul, {g, y}));
  auto of_scores = to.add(PointwiseFn::mul, {p, to.add(PointwiseFn::sub, {of_p, x.to_scores(mean)})});
  of_scores = to.add(PointwiseFn::mul, {of_scores, to.number(x.computed, x.scale)});
  const auto gradient = [&](Ref of, Ref with) {
    return to.cast(to.add(ir::MatMul{}, {of, with}), x.computed, x.dtype);
  };
  return {gradient(of_scores, x.k), gradient(x.transposed(of_scores), x.q), gradient(x.transposed(p), g)};
}

}  // namespace burn::compile::decomposition
