// Systems of linear equations and what comes of their elimination: Solve, SolveTriangular, Det.
#include <array>
#include <utility>
#include <vector>

#include <cblas.h>

#include "backends/cpu/ops/matrices.h"
#include "backends/cpu/vector/elimination.h"

namespace burn::backends::cpu {
namespace {

using lapack::Int;

// A right-hand side of one column has no work of its own, a wide one may have most of it.
MatrixBatch work_of(const MatrixBatch& matrices, std::int64_t columns) {
  MatrixBatch work = matrices;
  work.columns = std::max(matrices.columns, columns);
  return work;
}

// Small matrices: elimination where they lie, with the right-hand sides along.
Result<Array> solve_small(Run& run, std::span<Array> operands) {
  const MatrixBatch batch(operands[0].shape()), sides(operands[1].shape());
  BURN_TRY(Array x, writable(run, std::exchange(operands[1], Array())));
  BURN_TRY(Array a, writable(run, std::exchange(operands[0], Array())));
  FirstFailure failure;
  dispatch_real(x.dtype(), [&]<typename T>() {
    const auto& loops = elimination<T>();
    for_each_matrix(work_of(batch, sides.columns), [&](std::int64_t k) {
      std::array<Int, kMostForElimination> pivots;
      T *matrix = a.as<T>() + k * batch.size(), *result = x.as<T>() + k * sides.size();
      const auto zero = loops.eliminate(batch.rows, batch.columns, matrix, pivots.data(), sides.columns, result);
      if (zero != 0) return failure.found(k, zero - 1);
      loops.substitute(batch.rows, matrix, sides.columns, result);
    });
  });
  if (failure.any()) return singular_matrix(failure.of(batch));
  return x;
}

Result<Array> solve(Run& run, std::span<Array> operands) {
  const MatrixBatch batch(operands[0].shape()), sides(operands[1].shape());
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  BURN_RETURN_IF_ERROR(check_lapack_sizes(sides));
  if (!batch.is_empty() && batch.rows <= kMostForElimination) return solve_small(run, operands);
  BURN_TRY(Array x, by_columns(run, operands[1]));
  if (batch.is_empty()) return transposed(x);
  BURN_TRY(Array a, by_columns(run, operands[0]));
  const auto n = static_cast<Int>(batch.rows), columns = static_cast<Int>(sides.columns);
  FirstFailure failure;
  dispatch_real(x.dtype(), [&]<typename T>() {
    for_each_matrix(work_of(batch, sides.columns), [&](std::int64_t k) {
      std::vector<Int> pivots(static_cast<std::size_t>(n));
      T* lu = a.as<T>() + k * batch.size();
      if (const auto info = lapack::getrf(n, n, lu, pivots.data()); info != 0) return failure.found(k, info - 1);
      if (columns > 0) lapack::getrs(n, columns, lu, pivots.data(), x.as<T>() + k * sides.size());
    });
  });
  if (failure.any()) return singular_matrix(failure.of(batch));
  return transposed(x);
}

void trsm(CBLAS_UPLO side, CBLAS_TRANSPOSE transposition, CBLAS_DIAG diagonal, int n, int columns, const float* a,
          float* x) {
  cblas_strsm(CblasRowMajor, CblasLeft, side, transposition, diagonal, n, columns, 1, a, n, x, columns);
}
void trsm(CBLAS_UPLO side, CBLAS_TRANSPOSE transposition, CBLAS_DIAG diagonal, int n, int columns, const double* a,
          double* x) {
  cblas_dtrsm(CblasRowMajor, CblasLeft, side, transposition, diagonal, n, columns, 1, a, n, x, columns);
}

Result<Array> solve_triangular(const ir::SolveTriangular& op, Run& run, std::span<Array> operands) {
  const MatrixBatch batch(operands[0].shape()), sides(operands[1].shape());
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  BURN_RETURN_IF_ERROR(check_lapack_sizes(sides));
  BURN_TRY(Array x, writable(run, std::exchange(operands[1], Array())));
  if (batch.is_empty() || sides.is_empty()) return x;
  // A transposed matrix is read in place: its other triangle.
  const bool is_transposed = !operands[0].is_contiguous() && transposed(operands[0]).is_contiguous();
  BURN_TRY(const Array a, contiguous(run, is_transposed ? transposed(operands[0]) : operands[0]));
  const auto triangle = op.lower != is_transposed ? CblasLower : CblasUpper;
  dispatch_real(x.dtype(), [&]<typename T>() {
    for_each_matrix(work_of(batch, sides.columns), [&](std::int64_t k) {
      trsm(triangle, is_transposed ? CblasTrans : CblasNoTrans, op.unit ? CblasUnit : CblasNonUnit,
           static_cast<int>(batch.rows), static_cast<int>(sides.columns), a.as<T>() + k * batch.size(),
           x.as<T>() + k * sides.size());
    });
  });
  return x;
}

// Of a matrix or its transpose: the product of the pivots, in double: what they grow to on the way need not fit a
// float.
template <typename T>
T determinant(Int n, T* a) {
  std::vector<Int> pivots(static_cast<std::size_t>(n));
  if (n > kMostForElimination)
    lapack::getrf(n, n, a, pivots.data());
  else if (n > 0)
    elimination<T>().eliminate(n, n, a, pivots.data(), 0, nullptr);
  double product = 1;
  for (Int i = 0; i < n; ++i) {
    const double pivot = a[i + std::int64_t{i} * n];
    product *= pivots[static_cast<std::size_t>(i)] == i + 1 ? pivot : -pivot;
  }
  return static_cast<T>(product);
}

Result<Array> det(Run& run, std::span<Array> operands, const ir::TensorType& type) {
  const MatrixBatch batch(operands[0].shape());
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  BURN_TRY(Array a, writable(run, std::exchange(operands[0], Array())));
  BURN_TRY(Array y, run.allocate(type));
  dispatch_real(type.dtype, [&]<typename T>() {
    for_each_matrix(batch, [&](std::int64_t k) {
      y.as<T>()[k] = determinant(static_cast<Int>(batch.rows), a.as<T>() + k * batch.size());
    });
  });
  return y;
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Solve&, const Signature&) { return Kernel(solve); }

Result<Kernel> prepare(const ir::SolveTriangular& op, const Signature&) {
  return Kernel([op](Run& run, std::span<Array> operands) { return solve_triangular(op, run, operands); });
}

Result<Kernel> prepare(const ir::Det&, const Signature& signature) {
  return Kernel([type = signature.result](Run& run, std::span<Array> operands) { return det(run, operands, type); });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
