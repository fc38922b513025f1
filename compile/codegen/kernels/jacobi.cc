// Singular values and eigenvalues by rotations of pairs of columns until all are orthogonal (one-sided Jacobi: M. R.
// Hestenes, J. SIAM 6, 1958): a thread for each matrix. Columns lie one after the other: w [columns, rows], v [columns,
// columns].
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/matrices.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

// Four times the distance of 1 to the next number: sums in one order round by more than one of it.
double precision_of(ir::DType type) { return type == ir::DType::f64 ? 8.8e-16 : 4.8e-7; }

// Rotates columns of w, and of v with them, until all pairs are orthogonal. Whether that came to an end.
Value orthogonalise(MatrixKernel& of, const MatrixInMemory& w, const MatrixInMemory& v, Value rows, Value columns,
                    ir::DType type) {
  constexpr int kSweeps = 60;
  auto& writer = of.writer();
  const auto is_done = writer.variable(of.constant(0));
  const Value least =
      kernel::sqrt(to(type, rows)) * precision_of(type);  // what rounds in a sum of products is no angle
  of.each(of.constant(0), of.constant(kSweeps), [&](Value) {
    writer.break_when(is_done.get() != 0);
    is_done.set(of.constant(1));
    of.each(of.constant(0), columns, [&](Value p) {
      of.each(p + 1, columns, [&](Value q) {
        const Value zero = of.constant(0);
        const Value aa = of.sum(type, zero, rows, [&](Value i) { return w.get(p, i) * w.get(p, i); });
        const Value bb = of.sum(type, zero, rows, [&](Value i) { return w.get(q, i) * w.get(q, i); });
        const Value ab = of.sum(type, zero, rows, [&](Value i) { return w.get(p, i) * w.get(q, i); });
        writer.when(fabs(ab) > least * kernel::sqrt(aa) * kernel::sqrt(bb), [&] {
          is_done.set(of.constant(0));
          const Value zeta = (bb - aa) / (ab * 2.0), one = writer.constant(type, 1.0);
          const Value t = select(zeta < 0.0, -one, one) / (fabs(zeta) + kernel::sqrt(zeta * zeta + 1.0));
          const Value c = one / kernel::sqrt(t * t + 1.0), s = c * t;
          const auto turn = [&](const MatrixInMemory& of_columns, Value size) {
            of.each(zero, size, [&](Value i) {
              const Value a = of_columns.get(p, i), b = of_columns.get(q, i);
              of_columns.set(p, i, c * a - s * b);
              of_columns.set(q, i, s * a + c * b);
            });
          };
          turn(w, rows);
          turn(v, columns);
        });
      });
    });
  });
  return is_done.get() != 0;
}

// Where value `j` comes in order; of equals, the first.
Value rank_of(MatrixKernel& of, const MatrixInMemory& values, Value n, Value j, bool descending) {
  auto& writer = of.writer();
  const Value zero = of.constant(0), one = of.constant(1);
  const auto rank = writer.variable(zero);
  const Value mine = values.get(j, zero);
  of.each(zero, n, [&](Value i) {
    const Value other = values.get(i, zero);
    const Value is_before = descending ? other > mine : other < mine;
    rank.set(rank.get() + select(is_before || (other == mine && i < j), one, zero));
  });
  return rank.get();
}

// Columns of u (elements by `get` and `set` of row, column) from `known` on: unit vectors, each without what lies along
// those before.
template <typename Get, typename Set>
void complete(MatrixKernel& of, const Get& get, const Set& set, Value rows, Value columns, Value known,
              ir::DType type) {
  auto& writer = of.writer();
  const Value zero = of.constant(0);
  const auto next = writer.variable(zero);
  of.each(known, columns, [&](Value k) {
    of.each(zero, rows, [&](Value) {
      writer.break_when(next.get() >= rows);
      const Value unit = next.get();
      of.each(zero, rows,
              [&](Value i) { set(i, k, select(i == unit, writer.constant(type, 1.0), writer.constant(type, 0.0))); });
      of.each(zero, of.constant(2), [&](Value) {
        of.each(zero, k, [&](Value j) {
          const Value along = of.sum(type, zero, rows, [&](Value i) { return get(i, j) * get(i, k); });
          of.each(zero, rows, [&](Value i) { set(i, k, get(i, k) - along * get(i, j)); });
        });
      });
      const Value square = of.sum(type, zero, rows, [&](Value i) { return get(i, k) * get(i, k); });
      next.set(unit + 1);
      // Of all unit vectors, one has at least this much left.
      const Value is_enough = square * 4.0 * to(type, rows) > 1.0;
      writer.when(is_enough, [&] {
        const Value length = kernel::sqrt(square);
        of.each(zero, rows, [&](Value i) { set(i, k, get(i, k) / length); });
      });
      writer.break_when(is_enough);
    });
  });
}

View scratch(Emitter& emit, ir::DType dtype, std::int64_t count) {
  return emit.scratch_value({dtype, {std::max<std::int64_t>(count, 1)}});
}

// The results of a decomposition of matrices [rows, columns], of which k is the shorter side and n the longer one.
struct SingularVectors {
  const MatrixInMemory &u, &s, &vt;
  Value rows, columns, k, n;
  bool is_wide;
  Value zero, one, none;  // constants: of places, and the number 0

  void fill(MatrixKernel& of, Value with) const {
    of.each_pair(zero, rows, zero, k, [&](Value i, Value j) { u.set(i, j, with); });
    of.each(zero, k, [&](Value i) { s.set(i, zero, with); });
    of.each_pair(zero, k, zero, columns, [&](Value i, Value j) { vt.set(i, j, with); });
  }
  // The columns of w are the left vectors times the values, those of v the right ones; of a wide matrix the other way.
  void set(MatrixKernel& of, const MatrixInMemory& w, const MatrixInMemory& v, const MatrixInMemory& values,
           ir::DType type) const {
    const auto known = of.writer().variable(zero);
    of.each(zero, k, [&](Value j) {
      const Value length = kernel::sqrt(of.sum(type, zero, n, [&](Value i) { return w.get(j, i) * w.get(j, i); }));
      values.set(j, zero, length);
      known.set(known.get() + select(length > none, one, zero));
    });
    of.each(zero, k, [&](Value j) {
      const Value rank = rank_of(of, values, k, j, true), length = values.get(j, zero);
      s.set(rank, zero, length);
      of.each(zero, k, [&](Value i) {
        if (is_wide)
          u.set(i, rank, v.get(j, i));
        else
          vt.set(rank, i, v.get(j, i));
      });
      of.each(zero, n, [&](Value i) {
        const Value part = select(length > none, w.get(j, i) / length, none);
        if (is_wide)
          vt.set(rank, i, part);
        else
          u.set(i, rank, part);
      });
    });
    const auto get_long = [&](Value i, Value j) { return is_wide ? vt.get(j, i) : u.get(i, j); };
    const auto set_long = [&](Value i, Value j, Value to) { is_wide ? vt.set(j, i, to) : u.set(i, j, to); };
    complete(of, get_long, set_long, n, k, known.get(), type);
  }
};

}  // namespace

Status lower(Emitter& emit, const ir::Svd&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View u = emit.result(at.result(0)), s = emit.result(at.result(1)), vt = emit.result(at.result(2));
  const MatrixBatch batch(x.shape);
  if (x.num_elements() == 0) return {};
  const bool is_wide = batch.columns > batch.rows;
  const auto long_side = std::max(batch.rows, batch.columns);
  const auto type = x.dtype;
  MatrixKernel of(batch.count);
  auto& writer = of.writer();
  auto& arguments = of.arguments();
  const Value n = arguments.number(long_side), k = arguments.number(batch.least());
  const Value rows = is_wide ? k : n, columns = is_wide ? n : k, one = of.constant(1), zero = of.constant(0);
  const MatrixInMemory from(of, arguments.address(emit.contiguous(x)), rows, columns);
  const MatrixInMemory to_u(of, arguments.address(u), rows, k), to_s(of, arguments.address(s), k, one);
  const MatrixInMemory to_vt(of, arguments.address(vt), k, columns);
  const MatrixInMemory w(of, arguments.address(scratch(emit, type, x.num_elements())), k, n);
  const MatrixInMemory v(of, arguments.address(scratch(emit, type, batch.count * batch.least() * batch.least())), k, k);
  const MatrixInMemory values(of, arguments.address(scratch(emit, type, batch.count * batch.least())), k, one);
  const auto report = arguments.address(ir::DType::i64, matrix_report(emit, batch, ir::not_converged));
  of.launch(emit, [&] {
    const Value none = writer.constant(type, 0.0), full = writer.constant(type, 1.0);
    const auto outside = writer.variable(none);  // NaN where an element is not finite
    of.each_pair(zero, k, zero, n, [&](Value j, Value i) {
      const Value value = is_wide ? from.get(j, i) : from.get(i, j);
      outside.set(outside.get() + (value - value));
      w.set(j, i, value);
    });
    of.each_pair(zero, k, zero, k, [&](Value i, Value j) { v.set(i, j, select(i == j, full, none)); });
    const Value nan = outside.get();
    const SingularVectors results{to_u, to_s, to_vt, rows, columns, k, n, is_wide, zero, one, none};
    writer.when(
        kernel::is_nan(nan), [&] { results.fill(of, nan); },
        [&] {
          const Value is_done = orthogonalise(of, w, v, n, k, type);
          writer.when(!is_done, [&] { of.report(report, zero); });
          results.set(of, w, v, values, type);
        });
  });
  return {};
}

// The eigenvectors of a symmetric matrix are the singular vectors of x + c I, which with c = |x| has no negative
// eigenvalue; the eigenvalues are v^T x v.
Status lower(Emitter& emit, const ir::Eigh&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View values = emit.result(at.result(0)), vectors = emit.result(at.result(1));
  const MatrixBatch batch(x.shape);
  if (x.num_elements() == 0) return {};
  const auto type = x.dtype;
  MatrixKernel of(batch.count);
  auto& writer = of.writer();
  auto& arguments = of.arguments();
  const Value n = arguments.number(batch.rows), one = of.constant(1), zero = of.constant(0);
  const MatrixInMemory from(of, arguments.address(emit.contiguous(x)), n, n);
  const MatrixInMemory to_values(of, arguments.address(values), n, one);
  const MatrixInMemory to_vectors(of, arguments.address(vectors), n, n);
  const MatrixInMemory w(of, arguments.address(scratch(emit, type, x.num_elements())), n, n);
  const MatrixInMemory v(of, arguments.address(scratch(emit, type, x.num_elements())), n, n);
  const MatrixInMemory found(of, arguments.address(scratch(emit, type, batch.count * batch.rows)), n, one);
  const auto report = arguments.address(ir::DType::i64, matrix_report(emit, batch, ir::not_converged));
  of.launch(emit, [&] {
    const Value none = writer.constant(type, 0.0), full = writer.constant(type, 1.0);
    const auto element = [&](Value i, Value j) {
      const Value is_lower = j <= i;
      return from.get(select(is_lower, i, j), select(is_lower, j, i));
    };
    const auto outside = writer.variable(none), squares = writer.variable(none);
    of.each_pair(zero, n, zero, n, [&](Value i, Value j) {
      const Value value = element(i, j);
      outside.set(outside.get() + (value - value));
      squares.set(squares.get() + value * value);
      v.set(i, j, select(i == j, full, none));
    });
    const Value nan = outside.get();
    writer.when(
        kernel::is_nan(nan),
        [&] {
          of.each(zero, n, [&](Value i) { to_values.set(i, zero, nan); });
          of.each_pair(zero, n, zero, n, [&](Value i, Value j) { to_vectors.set(i, j, nan); });
        },
        [&] {
          const Value size = kernel::sqrt(squares.get());
          of.each_pair(zero, n, zero, n,
                       [&](Value i, Value j) { w.set(i, j, element(i, j) + select(i == j, size, none)); });
          const Value is_done = orthogonalise(of, w, v, n, n, type);
          writer.when(!is_done, [&] { of.report(report, zero); });
          of.each(zero, n, [&](Value k) {
            found.set(k, zero, of.sum(type, zero, n, [&](Value i) {
              return of.sum(type, zero, n, [&](Value j) { return element(i, j) * v.get(k, j); }) * v.get(k, i);
            }));
          });
          of.each(zero, n, [&](Value k) {
            const Value rank = rank_of(of, found, n, k, false);
            to_values.set(rank, zero, found.get(k, zero));
            of.each(zero, n, [&](Value i) { to_vectors.set(i, rank, v.get(k, i)); });
          });
        });
  });
  return {};
}

}  // namespace burn::compile::kernels
