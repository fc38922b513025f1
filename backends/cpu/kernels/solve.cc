// Systems of linear equations and what follows from their elimination: Solve, SolveTriangular, Det.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <cblas.h>

#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/matrices.h"
#include "backends/cpu/simd/elimination.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

using lapack::Int;

// Includes the right-hand sides: a single column adds no work, a wide one may have most of it.
MatrixBatch work_of(const MatrixBatch& matrices, std::int64_t columns) {
  MatrixBatch work = matrices;
  work.columns = std::max(matrices.columns, columns);
  return work;
}

// Small matrices: elimination in place, together with the right-hand sides.
Result<Array> solve_small(Run& run, std::span<Array> operands) {
  const MatrixBatch batch(operands[0].shape()), sides(operands[1].shape());
  BURN_TRY(Array x, writable(run, std::exchange(operands[1], Array())));
  BURN_TRY(Array a, writable(run, std::exchange(operands[0], Array())));
  FirstFailure failure;
  dispatch_real(x.dtype(), [&]<typename T>() {
    const auto& loops = elimination<T>();
    for_each_matrix(work_of(batch, sides.columns), [&](std::int64_t k) {
      std::array<Int, kMaxForElimination> pivots;
      T *matrix = a.as<T>() + k * batch.size(), *result = x.as<T>() + k * sides.size();
      const auto zero = loops.eliminate(batch.rows, batch.columns, matrix, pivots.data(), sides.columns, result);
      if (zero != 0) return failure.found(k, zero - 1);
      loops.substitute(batch.rows, matrix, sides.columns, result);
    });
  });
  if (failure.any()) return ir::singular_matrix(failure.of(batch));
  return x;
}

Result<Array> solve(Run& run, std::span<Array> operands) {
  const MatrixBatch batch(operands[0].shape()), sides(operands[1].shape());
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  BURN_RETURN_IF_ERROR(check_lapack_sizes(sides));
  if (!batch.is_empty() && batch.rows <= kMaxForElimination) return solve_small(run, operands);
  BURN_TRY(Array x, column_major(run, operands[1]));
  if (batch.is_empty()) return transposed(x);
  BURN_TRY(Array a, column_major(run, operands[0]));
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
  if (failure.any()) return ir::singular_matrix(failure.of(batch));
  return transposed(x);
}

void trsm(CBLAS_UPLO side, CBLAS_TRANSPOSE transposition, CBLAS_DIAG diagonal, int n, int columns, const float* a,
          int a_stride, float* x, int stride) {
  cblas_strsm(CblasRowMajor, CblasLeft, side, transposition, diagonal, n, columns, 1, a, a_stride, x, stride);
}
void trsm(CBLAS_UPLO side, CBLAS_TRANSPOSE transposition, CBLAS_DIAG diagonal, int n, int columns, const double* a,
          int a_stride, double* x, int stride) {
  cblas_dtrsm(CblasRowMajor, CblasLeft, side, transposition, diagonal, n, columns, 1, a, a_stride, x, stride);
}

// A triangular matrix and its right-hand sides, which the solutions overwrite: [n, columns], rows `stride` apart.
template <typename T>
struct Triangle {
  Matrix<T> a;
  std::int64_t n;
  bool lower, unit;
  T* x;
  std::int64_t columns, stride;

  const T* at(std::int64_t i, std::int64_t j) const {
    return a.data + (a.transposed ? j * a.stride + i : i * a.stride + j);
  }
  // The square from row and column `first` on, and its rows of the right-hand sides.
  Triangle part(std::int64_t first, std::int64_t size) const {
    Triangle made = *this;
    made.a.data = at(first, first);
    made.n = size;
    made.x = x + first * stride;
    return made;
  }
};

// Rows of x from `to` on -= a[to.., from..] times rows of x from `from` on, in pieces of some milliseconds.
template <typename T>
void subtract_product(const Triangle<T>& t, std::int64_t to, std::int64_t rows, std::int64_t from, std::int64_t depth) {
  constexpr std::int64_t kAtOnce = 1 << 27;  // multiply-adds
  const Product<T> whole{.m = rows,
                         .n = t.columns,
                         .k = depth,
                         .a = {t.at(to, from), t.a.stride, t.a.transposed},
                         .b = {t.x + from * t.stride, t.stride, false},
                         .c = t.x + to * t.stride,
                         .c_stride = t.stride,
                         .alpha = T{-1},
                         .beta = T{1}};
  const auto step = std::clamp<std::int64_t>(kAtOnce / (depth * t.columns), 16, std::max<std::int64_t>(16, rows));
  parallel_for((rows + step - 1) / step, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      throw_if_interrupted();
      multiply_here(part_of(whole, i * step, std::min(step, rows - i * step), 0, t.columns));
    }
  });
}

// By halves: solves one half, subtracts its product from the right-hand sides of the other half, solves that.
template <typename T>
void solve_triangle(const Triangle<T>& t) {
  constexpr std::int64_t kWhole = 256;
  throw_if_interrupted();
  if (t.n <= kWhole) {
    return trsm(t.lower != t.a.transposed ? CblasLower : CblasUpper, t.a.transposed ? CblasTrans : CblasNoTrans,
                t.unit ? CblasUnit : CblasNonUnit, static_cast<int>(t.n), static_cast<int>(t.columns), t.a.data,
                static_cast<int>(t.a.stride), t.x, static_cast<int>(t.stride));
  }
  const auto half = (t.n / 2 + 63) / 64 * 64, rest = t.n - half;
  const auto top = t.part(0, half), bottom = t.part(half, rest);
  if (t.lower) {
    solve_triangle(top);
    subtract_product(t, half, rest, 0, half);
    solve_triangle(bottom);
  } else {
    solve_triangle(bottom);
    subtract_product(t, 0, half, half, rest);
    solve_triangle(top);
  }
}

// Right-hand sides are independent: some at a time, on several threads if there is one matrix.
template <typename T>
void solve_sides(const Triangle<T>& t) {
  constexpr std::int64_t kMax = 512, kLeast = 64;
  const auto width = std::clamp((t.columns + thread_count() - 1) / thread_count(), kLeast, kMax);
  parallel_for_each((t.columns + width - 1) / width, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      auto some = t;
      some.x = t.x + i * width;
      some.columns = std::min(width, t.columns - i * width);
      solve_triangle(some);
    }
  });
}

Result<Array> solve_triangular(const ir::SolveTriangular& op, Run& run, std::span<Array> operands) {
  const MatrixBatch batch(operands[0].shape()), sides(operands[1].shape());
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  BURN_RETURN_IF_ERROR(check_lapack_sizes(sides));
  BURN_TRY(Array x, writable(run, std::exchange(operands[1], Array())));
  if (batch.is_empty() || sides.is_empty()) return x;
  // A transposed matrix is read in place, by its other triangle.
  const bool is_transposed = !operands[0].is_contiguous() && transposed(operands[0]).is_contiguous();
  BURN_TRY(const Array a, contiguous(run, is_transposed ? transposed(operands[0]) : operands[0]));
  dispatch_real(x.dtype(), [&]<typename T>() {
    for_each_matrix(work_of(batch, sides.columns), [&](std::int64_t k) {
      std::optional<LibraryThreads> alone;  // for a single matrix the threads are ours
      if (batch.count == 1) alone.emplace(1);
      solve_sides(Triangle<T>{.a = {a.as<T>() + k * batch.size(), batch.rows, is_transposed},
                              .n = batch.rows,
                              .lower = op.lower,
                              .unit = op.unit,
                              .x = x.as<T>() + k * sides.size(),
                              .columns = sides.columns,
                              .stride = sides.columns});
    });
  });
  return x;
}

// The determinant of a matrix or of its transpose: the product of the pivots, in double, as intermediate products may
// exceed a float.
template <typename T>
T determinant(Int n, T* a) {
  std::vector<Int> pivots(static_cast<std::size_t>(n));
  if (n > kMaxForElimination)
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
