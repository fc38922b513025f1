// Attention with all its scores in memory.
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "backends/plan/decompose_rules.h"

namespace burn::backends::decomposition {
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
      : to(composer), scale(std::bit_cast<double>(op.scale)), causal(op.causal) {
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

  // What each query gives each key; all 0 where it sees none. Requires: !is_empty().
  Ref probabilities() const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto zero = to.number(computed, 0), nothing = to.number(computed, -kInfinity);
    auto scores = to.add(PointwiseFn::mul, {to.add(ir::MatMul{}, {q, transposed(k)}), to.number(computed, scale)});
    if (bias) scores = to.add(PointwiseFn::add, {scores, as_computed(*bias)});
    if (const auto unseen = hidden()) scores = to.add(PointwiseFn::select, {*unseen, nothing, scores});
    auto largest = over_keys(ReduceFn::max, scores);
    largest = to.add(PointwiseFn::select, {to.add(PointwiseFn::equal, {largest, nothing}), zero, largest});
    const auto p = to.add(PointwiseFn::exp, {to.add(PointwiseFn::sub, {scores, to_scores(largest)})});
    auto sum = over_keys(ReduceFn::sum, p);
    sum = to.add(PointwiseFn::select, {to.add(PointwiseFn::equal, {sum, zero}), to.number(computed, 1), sum});
    return to.add(PointwiseFn::div, {p, to_scores(sum)});
  }
};

}  // namespace

std::optional<Ref> compose(Composer& to, const ir::Attention& op, Operands in) {
  const Problem x(to, op, in, 3);
  if (x.is_empty()) return to.filled(x.dtype, 0, with(x.batch, x.n, x.e));
  return to.cast(to.add(ir::MatMul{}, {x.probabilities(), x.v}), x.computed, x.dtype);
}

std::optional<Ref> compose(Composer& to, const ir::AttentionGrad& op, Operands in) {
  const Problem x(to, op, in, 5);
  const auto rank = x.batch.rank();
  auto packed = with(x.batch, std::max(x.n, x.m), std::max(x.d, x.e));
  packed.insert(0, 3);
  auto result = to.filled(x.dtype, 0, packed);
  if (x.is_empty()) return result;
  const auto y = x.as_computed(in[3]), g = x.as_computed(in[4]);
  const auto p = x.probabilities();
  const auto of_p = to.add(ir::MatMul{}, {g, x.transposed(x.v)});
  const auto mean = x.over_keys(ReduceFn::sum, to.add(PointwiseFn::mul, {g, y}));
  auto of_scores = to.add(PointwiseFn::mul, {p, to.add(PointwiseFn::sub, {of_p, x.to_scores(mean)})});
  of_scores = to.add(PointwiseFn::mul, {of_scores, to.number(x.computed, x.scale)});
  const auto put = [&](std::int64_t part, Ref gradient, std::int64_t rows, std::int64_t columns) {
    auto shape = with(x.batch, rows, columns);
    shape.insert(0, 1);
    const auto value = to.add(ir::Reshape{shape}, {to.cast(gradient, x.computed, x.dtype)});
    auto starts = ir::Dims::filled(rank + 1, 0);
    starts[0] = part;
    result = to.add(ir::SliceAssign{starts, ir::Dims::filled(rank + 1, 1)}, {result, value});
  };
  put(0, to.add(ir::MatMul{}, {of_scores, x.k}), x.n, x.d);
  put(1, to.add(ir::MatMul{}, {x.transposed(of_scores), x.q}), x.m, x.d);
  put(2, to.add(ir::MatMul{}, {x.transposed(p), g}), x.m, x.e);
  return result;
}

}  // namespace burn::backends::decomposition
