// Factorisations by kernels of our own, one block per matrix, unless those of a library are chosen. Det is decomposed
// into Lu (compile/rewrite/decompose_linalg.cc).
#include "backends/cuda/lower/linalg_library.h"
#include "backends/cuda/lower/matrices.h"

namespace burn::backends::cuda {
namespace {

// A row-major copy, which may be overwritten.
View copy_of(Emitter& emit, const View& x) {
  const View whole = emit.scratch_value({x.dtype, x.shape});
  emit.copy(x, whole);
  return whole;
}

// Fills a result with zeros if the op's other result is empty.
void zero(Emitter& emit, const View& y) {
  emit.fill_zero(y.address, static_cast<std::size_t>(y.num_elements()) * ir::size_of(y.dtype));
}

}  // namespace

namespace lowering {

Status lower(Emitter& emit, const ir::Cholesky& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), y = emit.result(at.result());
  const MatrixBatch batch(x.shape);
  if (y.num_elements() == 0) return {};
  if (by_library::is_better(emit, op, at)) return by_library::lower(emit, op, at);
  emit.launch(
      matrix_kernel("linalg.h", x.dtype, "const T* x, T* y, std::int64_t* report", "cholesky(x, y, report, shape)"),
      grid_of(batch),
      {emit.contiguous(x), y, report_of(emit, batch, ir::not_positive_definite),
       MatrixShape{batch.rows, batch.rows, 0}});
  return {};
}

Status lower(Emitter& emit, const ir::Lu& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View y = emit.result(at.result(0)), permutation = emit.result(at.result(1)), sign = emit.result(at.result(2));
  const MatrixBatch batch(x.shape);
  if (batch.count == 0) return {};
  if (by_library::is_better(emit, op, at)) return by_library::lower(emit, op, at);
  emit.launch(matrix_kernel("linalg.h", x.dtype, "const T* x, T* y, std::int64_t* permutation, T* sign",
                            "lu(x, y, permutation, sign, shape)"),
              grid_of(batch), {emit.contiguous(x), y, permutation, sign, MatrixShape{batch.rows, batch.columns, 0}});
  return {};
}

Status lower(Emitter& emit, const ir::Qr& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0)), q = emit.result(at.result(0)), r = emit.result(at.result(1));
  const MatrixBatch batch(x.shape);
  if (q.num_elements() == 0) {
    zero(emit, r);
    return {};
  }
  if (by_library::is_better(emit, op, at)) return by_library::lower(emit, op, at);
  emit.launch(matrix_kernel("linalg.h", x.dtype, "T* a, T* taus, T* q, T* r", "qr(a, taus, q, r, shape)"),
              grid_of(batch),
              {copy_of(emit, x), scratch_of(emit, x.dtype, batch.count * batch.least()), q, r,
               MatrixShape{batch.rows, batch.columns, q.shape.back()}});
  return {};
}

Status lower(Emitter& emit, const ir::Svd& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View u = emit.result(at.result(0)), s = emit.result(at.result(1)), vt = emit.result(at.result(2));
  const MatrixBatch batch(x.shape);
  if (x.num_elements() == 0) return {};
  if (by_library::is_better(emit, op, at)) return by_library::lower(emit, op, at);
  const auto k = batch.least();
  emit.launch(
      matrix_kernel("jacobi.h", x.dtype,
                    "const T* x, T* u, T* s, T* vt, T* w, T* v, T* values, std::int64_t* ranks, std::int64_t* report",
                    "svd(x, u, s, vt, w, v, values, ranks, report, shape)"),
      grid_of(batch),
      {emit.contiguous(x), u, s, vt, scratch_of(emit, x.dtype, x.num_elements()),
       scratch_of(emit, x.dtype, batch.count * k * k), scratch_of(emit, x.dtype, batch.count * k),
       scratch_of(emit, ir::DType::i64, batch.count * k), report_of(emit, batch, ir::not_converged),
       MatrixShape{batch.rows, batch.columns, 0}});
  return {};
}

Status lower(Emitter& emit, const ir::Eigh& op, const NodeInPlan& at) {
  const View x = emit.read(at.operand(0));
  const View values = emit.result(at.result(0)), vectors = emit.result(at.result(1));
  const MatrixBatch batch(x.shape);
  if (x.num_elements() == 0) return {};
  if (by_library::is_better(emit, op, at)) return by_library::lower(emit, op, at);
  emit.launch(matrix_kernel(
                  "jacobi.h", x.dtype,
                  "const T* x, T* values, T* vectors, T* w, T* v, T* found, std::int64_t* ranks, std::int64_t* report",
                  "eigh(x, values, vectors, w, v, found, ranks, report, shape)"),
              grid_of(batch),
              {emit.contiguous(x), values, vectors, scratch_of(emit, x.dtype, x.num_elements()),
               scratch_of(emit, x.dtype, x.num_elements()), scratch_of(emit, x.dtype, batch.count * batch.rows),
               scratch_of(emit, ir::DType::i64, batch.count * batch.rows), report_of(emit, batch, ir::not_converged),
               MatrixShape{batch.rows, batch.columns, 0}});
  return {};
}

Status lower(Emitter& emit, const ir::Solve& op, const NodeInPlan& at) {
  const View a = emit.read(at.operand(0)), b = emit.read(at.operand(1)), x = emit.result(at.result());
  const MatrixBatch batch(a.shape);
  if (a.num_elements() == 0) return {};
  if (by_library::is_better(emit, op, at)) return by_library::lower(emit, op, at);
  emit.copy(b, x);
  emit.launch(matrix_kernel("linalg.h", a.dtype, "T* a, T* x, std::int64_t* report", "solve(a, x, report, shape)"),
              grid_of(batch),
              {copy_of(emit, a), x, report_of(emit, batch, ir::singular_matrix),
               MatrixShape{batch.rows, batch.columns, b.shape.back()}});
  return {};
}

Status lower(Emitter& emit, const ir::SolveTriangular& op, const NodeInPlan& at) {
  const View a = emit.read(at.operand(0)), b = emit.read(at.operand(1));
  const View x = emit.result(at.result());
  const MatrixBatch batch(a.shape);
  if (x.num_elements() == 0) return {};
  if (by_library::is_better(emit, op, at)) return by_library::lower(emit, op, at);
  emit.copy(b, x);
  constexpr std::int64_t kShare = 32;  // columns per block
  emit.launch(matrix_kernel("linalg.h", a.dtype, "const T* a, T* x",
                            fmt::format("solve_triangular(a, x, {}, {}, shape)", op.lower, op.unit)),
              grid_of(batch, std::min<std::int64_t>(divide_up(b.shape.back(), kShare), 65535)),
              {emit.contiguous(a), x, MatrixShape{batch.rows, batch.columns, b.shape.back()}});
  return {};
}

Status lower(Emitter&, const ir::Det&, const NodeInPlan&) {
  return unimplemented("CUDA: a determinant by itself");  // rejected by supports(), so decomposed into Lu
}

}  // namespace lowering
}  // namespace burn::backends::cuda
