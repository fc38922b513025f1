// Factorisations and systems of equations: a thread for each matrix.
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/matrices.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

// y becomes L and U, with pivots from the largest elements of their columns, the first of equals, NaN before all
// others. `swapped(a, b)` is told of rows that change places, `eliminated(k, pivot)` of the pivots.
void eliminate(MatrixKernel& of, const MatrixInMemory& y, Value rows, Value columns, Value least,
               const std::function<void(Value a, Value b)>& swapped,
               const std::function<void(Value k, Value pivot)>& eliminated) {
  auto& writer = of.writer();
  of.each(of.constant(0), least, [&](Value k) {
    const auto best = writer.variable(fabs(y.get(k, k)));
    const auto place = writer.variable(k);
    of.each(k + 1, rows, [&](Value i) {
      const Value size = fabs(y.get(i, k)), now = best.get();
      const Value is_better = !kernel::is_nan(now) && (now < size || kernel::is_nan(size));
      best.set(select(is_better, size, now));
      place.set(select(is_better, i, place.get()));
    });
    const Value pivot_row = place.get();
    writer.when(pivot_row != k, [&] {
      of.each(of.constant(0), columns, [&](Value j) { y.swap(k, j, pivot_row, j); });
      swapped(k, pivot_row);
    });
    const Value by = y.get(k, k);
    writer.when(by != by.number(0.0), [&] {
      of.each(k + 1, rows, [&](Value i) {
        const Value factor = y.get(i, k) / by;
        y.set(i, k, factor);
        of.each(k + 1, columns, [&](Value j) { y.set(i, j, y.get(i, j) - factor * y.get(k, j)); });
      });
    });
    eliminated(k, by);
  });
}

// Columns [from, to) of y without what lies along the reflector that column k of `a`, from row k on, holds.
void reflect(MatrixKernel& of, const MatrixInMemory& a, Value tau, const MatrixInMemory& y, Value k, Value rows,
             Value from, Value to) {
  of.each(from, to, [&](Value j) {
    const Value along =
        tau * (y.get(k, j) + of.sum(tau.type, k + 1, rows, [&](Value i) { return a.get(i, k) * y.get(i, j); }));
    y.set(k, j, y.get(k, j) - along);
    of.each(k + 1, rows, [&](Value i) { y.set(i, j, y.get(i, j) - along * a.get(i, k)); });
  });
}

}  // namespace

Status lower(Emitter& emit, const ir::Cholesky&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  if (y.num_elements() == 0) return {};
  const MatrixBatch batch(x.shape);
  MatrixKernel of(batch.count);
  auto& writer = of.writer();
  auto& arguments = of.arguments();
  const Value n = arguments.number(batch.rows);
  const MatrixInMemory from(of, arguments.address(emit.contiguous(x)), n, n), to(of, arguments.address(y), n, n);
  const auto report = arguments.address(ir::DType::i64, matrix_report(emit, batch, ir::not_positive_definite));
  of.launch(emit, [&] {
    const Value zero = writer.constant(x.dtype, 0.0);
    of.each_pair(of.constant(0), n, of.constant(0), n,
                 [&](Value i, Value j) { to.set(i, j, select(j <= i, from.get(i, j), zero)); });
    of.each(of.constant(0), n, [&](Value k) {
      const Value pivot = to.get(k, k);
      writer.when(!(pivot > zero), [&] { of.report(report, k + 1); });
      writer.break_when(!(pivot > zero));
      const Value root = kernel::sqrt(pivot);
      to.set(k, k, root);
      of.each(k + 1, n, [&](Value i) { to.set(i, k, to.get(i, k) / root); });
      of.each(k + 1, n, [&](Value i) {
        const Value factor = to.get(i, k);
        of.each(k + 1, i + 1, [&](Value j) { to.set(i, j, to.get(i, j) - factor * to.get(j, k)); });
      });
    });
  });
  return {};
}

Status lower(Emitter& emit, const ir::Lu&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View y = emit.result(at.result(0)), permutation = emit.result(at.result(1)), sign = emit.result(at.result(2));
  const MatrixBatch batch(x.shape);
  if (batch.count == 0) return {};
  if (y.num_elements() > 0) emit.copy(x, y);
  MatrixKernel of(batch.count);
  auto& writer = of.writer();
  auto& arguments = of.arguments();
  const Value rows = arguments.number(batch.rows), columns = arguments.number(batch.columns);
  const Value least = arguments.number(batch.least()), one = of.constant(1);
  const MatrixInMemory a(of, arguments.address(y), rows, columns);
  const MatrixInMemory order(of, arguments.address(permutation), rows, one);
  const MatrixInMemory signs(of, arguments.address(sign), one, one);
  of.launch(emit, [&] {
    const Value zero = of.constant(0);
    of.each(zero, rows, [&](Value i) { order.set(i, zero, i); });
    const auto parity = writer.variable(writer.constant(x.dtype, 1.0));
    eliminate(
        of, a, rows, columns, least,
        [&](Value k, Value other) {
          order.swap(k, zero, other, zero);
          parity.set(-parity.get());
        },
        [](Value, Value) {});
    signs.set(zero, zero, parity.get());
  });
  return {};
}

Status lower(Emitter& emit, const ir::Solve&, const NodeInPlan& at) {
  const View a = emit.read(at.operand(0)), b = emit.read(at.operand(1)), x = emit.result(at.result());
  const MatrixBatch batch(a.shape);
  if (a.num_elements() == 0) return {};
  if (x.num_elements() > 0) emit.copy(b, x);
  MatrixKernel of(batch.count);
  auto& writer = of.writer();
  auto& arguments = of.arguments();
  const Value n = arguments.number(batch.rows), columns = arguments.number(b.shape.back());
  const MatrixInMemory matrix(of, arguments.address(copy_of(emit, a)), n, n), to(of, arguments.address(x), n, columns);
  const auto report = arguments.address(ir::DType::i64, matrix_report(emit, batch, ir::singular_matrix));
  of.launch(emit, [&] {
    const Value zero = of.constant(0);
    const auto first_singular = writer.variable(of.constant(-1));
    eliminate(
        of, matrix, n, n, n,
        [&](Value k, Value other) { of.each(zero, columns, [&](Value j) { to.swap(k, j, other, j); }); },
        [&](Value k, Value pivot) {
          first_singular.set(select(pivot == pivot.number(0.0) && first_singular.get() < 0, k, first_singular.get()));
          of.each(k + 1, n, [&](Value i) {
            const Value factor = matrix.get(i, k);
            of.each(zero, columns, [&](Value j) { to.set(i, j, to.get(i, j) - factor * to.get(k, j)); });
          });
        });
    writer.when(first_singular.get() >= 0, [&] { of.report(report, first_singular.get()); });
    of.each_down(n, [&](Value k) {
      const Value pivot = matrix.get(k, k);
      of.each(zero, columns, [&](Value j) { to.set(k, j, to.get(k, j) / pivot); });
      of.each(zero, k, [&](Value i) {
        const Value factor = matrix.get(i, k);
        of.each(zero, columns, [&](Value j) { to.set(i, j, to.get(i, j) - factor * to.get(k, j)); });
      });
    });
  });
  return {};
}

// A thread for each column of the right-hand sides.
Status lower(Emitter& emit, const ir::SolveTriangular& op, const NodeInPlan& at) {
  const View a = emit.read(at.operand(0)), b = emit.read(at.operand(1)), x = emit.result(at.result());
  if (x.num_elements() == 0) return {};
  const MatrixBatch batch(a.shape);
  emit.copy(b, x);
  kernel::Writer writer(64);
  Arguments arguments(writer, ir::DType::i64);
  const auto matrices = arguments.address(emit.contiguous(a)), into = arguments.address(x);
  const Value n = arguments.number(batch.rows), columns = arguments.number(b.shape.back());
  const Value position = arguments.position();
  writer.when(position < arguments.number(batch.count * b.shape.back()), [&] {
    const Value matrix = position / columns, j = position - matrix * columns;
    const Value begin = matrix * n * n, side = matrix * n * columns + j;
    const Value one = arguments.constant(1);
    writer.loop(n, [&](Value step) {
      const Value k = op.lower ? step : n - 1 - step;
      const auto total = writer.variable(writer.load(into, side + k * columns));
      writer.loop(op.lower ? arguments.constant(0) : k + 1, op.lower ? k : n, one, [&](Value i) {
        total.set(total.get() - writer.load(matrices, begin + k * n + i) * writer.load(into, side + i * columns));
      });
      const Value found = total.get();
      writer.store(into, side + k * columns, op.unit ? found : found / writer.load(matrices, begin + k * n + k));
    });
  });
  arguments.launch(emit, batch.count * b.shape.back());
  return {};
}

Status lower(Emitter& emit, const ir::Qr&, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), q = emit.result(at.result(0)), r = emit.result(at.result(1));
  const MatrixBatch batch(x.shape);
  if (q.num_elements() == 0) {
    if (r.num_elements() > 0) emit.fill_zero(r.address, ir::TensorType{r.dtype, r.shape}.num_bytes());
    return {};
  }
  const bool has_columns = x.num_elements() > 0;
  MatrixKernel of(batch.count);
  auto& writer = of.writer();
  auto& arguments = of.arguments();
  const Value rows = arguments.number(batch.rows), columns = arguments.number(batch.columns);
  const Value others = arguments.number(q.shape.back()), least = arguments.number(batch.least());
  const View copy = has_columns ? copy_of(emit, x) : q;
  const View kept = emit.scratch_value({x.dtype, {std::max<std::int64_t>(batch.count * batch.least(), 1)}});
  const MatrixInMemory a(of, arguments.address(copy), rows, columns);
  const MatrixInMemory taus(of, arguments.address(kept), least, of.constant(1));
  const MatrixInMemory to_q(of, arguments.address(q), rows, others), to_r(of, arguments.address(r), others, columns);
  of.launch(emit, [&] {
    const Value none = of.constant(0), zero = writer.constant(x.dtype, 0.0), one = writer.constant(x.dtype, 1.0);
    of.each(none, least, [&](Value k) {
      const Value below = of.sum(x.dtype, k + 1, rows, [&](Value i) { return a.get(i, k) * a.get(i, k); });
      const Value top = a.get(k, k), length = kernel::sqrt(top * top + below);
      // Away from zero, so that nothing cancels; a column that is done already stays.
      const Value is_done = below == zero;
      const Value into = select(is_done, top, select(top > zero, -length, length));
      const Value tau = select(is_done, zero, (into - top) / into);
      const Value by = top - into;
      a.set(k, k, into);
      of.each(k + 1, rows, [&](Value i) { a.set(i, k, select(is_done, zero, a.get(i, k) / by)); });
      taus.set(k, none, tau);
      reflect(of, a, tau, a, k, rows, k + 1, columns);
    });
    of.each_pair(none, rows, none, others, [&](Value i, Value j) { to_q.set(i, j, select(i == j, one, zero)); });
    of.each_down(least, [&](Value k) { reflect(of, a, taus.get(k, none), to_q, k, rows, none, others); });
    // The one with a diagonal that is not negative.
    of.each(none, others, [&](Value j) {
      const auto turned = writer.variable(one);
      writer.when(j < least, [&] { turned.set(select(a.get(j, j) < zero, -one, one)); });
      const Value sign = turned.get();
      of.each(none, rows, [&](Value i) { to_q.set(i, j, to_q.get(i, j) * sign); });
      of.each(none, columns, [&](Value i) {
        const auto value = writer.variable(zero);
        writer.when(j <= i && j < least, [&] { value.set(a.get(j, i) * sign); });
        to_r.set(j, i, value.get());
      });
    });
  });
  return {};
}

}  // namespace burn::compile::kernels
