// Factorisations: Cholesky, Lu, Qr, Svd, Eigh.
#include <cmath>
#include <numeric>
#include <vector>

#include "backends/cpu/kernels/matrices.h"
#include "backends/cpu/simd/elimination.h"

namespace burn::backends::cpu {
namespace {

using lapack::Int;

Int to_int(std::int64_t n) { return static_cast<Int>(n); }

template <typename T>
bool is_finite(const T* x, std::int64_t n) {
  return std::all_of(x, x + n, [](T v) { return std::isfinite(v); });
}

// --- QR --------------------------------------------------------------------------------------------------------------

// QR of a matrix by columns: q [rows, k] by columns, r [k, columns] by rows, k >= min(rows, columns). The results are
// incomplete if there is no workspace.
template <typename T>
void qr_of(Int rows, Int columns, Int k, T* a, T* q, T* r, lapack::WorkspaceAllocator<T> room) {
  const Int least = std::min(rows, columns);
  std::vector<T> taus(static_cast<std::size_t>(least));
  if (least > 0 && lapack::geqrf(rows, columns, a, taus.data(), room) == lapack::kNoWorkspace) return;
  for (Int i = 0; i < k; ++i) {
    for (Int j = 0; j < columns; ++j)
      r[std::int64_t{i} * columns + j] = i <= j && i < least ? a[i + std::int64_t{j} * rows] : T{0};
  }
  std::copy_n(a, std::int64_t{rows} * std::min(k, columns), q);
  if (rows > 0 && k > 0 && lapack::orgqr(rows, k, least, q, taus.data(), room) == lapack::kNoWorkspace) return;
  for (Int i = 0; i < least; ++i) {  // the factors for which the diagonal of R is not negative
    T* line = r + std::int64_t{i} * columns;
    if (!(line[i] < 0)) continue;
    for (Int j = i; j < columns; ++j) line[j] = -line[j];
    T* column = q + std::int64_t{i} * rows;
    for (Int j = 0; j < rows; ++j) column[j] = -column[j];
  }
}

// --- kernels ---------------------------------------------------------------------------------------------------------

Result<Array> cholesky(Run& run, std::span<Array> operands) {
  // The lower triangle of a row-major matrix is the upper one in LAPACK's order.
  BURN_TRY(Array y, writable(run, std::exchange(operands[0], Array())));
  const MatrixBatch batch(y.shape());
  if (batch.is_empty()) return y;
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  const auto n = batch.rows;
  FirstFailure failure;
  dispatch_real(y.dtype(), [&]<typename T>() {
    for_each_matrix(batch, [&](std::int64_t k) {
      T* a = y.as<T>() + k * n * n;
      if (const auto info = lapack::potrf(to_int(n), a); info != 0) return failure.found(k, info);
      for (std::int64_t i = 0; i < n; ++i) {  // NaN is not positive either: LAPACK reports it, OpenBLAS's does not
        if (!(a[i * n + i] > T{0})) return failure.found(k, i + 1);
      }
      for (std::int64_t i = 0; i < n; ++i) std::fill(a + i * n + i + 1, a + (i + 1) * n, T{0});
    });
  });
  if (failure.any()) return ir::not_positive_definite(failure.of(batch));
  return y;
}

Status lu(Run& run, std::span<Array> operands, std::span<Array> results, const ir::TensorType& permutation_type,
          const ir::TensorType& sign_type) {
  const MatrixBatch batch(operands[0].shape());
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  const bool is_small = std::max(batch.rows, batch.columns) <= kMaxForElimination;
  BURN_TRY(Array y, is_small ? writable(run, std::exchange(operands[0], Array())) : column_major(run, operands[0]));
  BURN_TRY(Array permutation, run.allocate(permutation_type));
  BURN_TRY(Array sign, run.allocate(sign_type));
  dispatch_real(y.dtype(), [&]<typename T>() {
    for_each_matrix(batch, [&](std::int64_t k) {
      std::vector<Int> pivots(static_cast<std::size_t>(batch.least()));
      T* matrix = y.as<T>() + k * batch.size();
      if (batch.size() > 0 && is_small)
        elimination<T>().eliminate(batch.rows, batch.columns, matrix, pivots.data(), 0, nullptr);
      else if (batch.size() > 0)
        lapack::getrf(to_int(batch.rows), to_int(batch.columns), matrix, pivots.data());
      auto* rows = permutation.as<std::int64_t>() + k * batch.rows;
      std::iota(rows, rows + batch.rows, std::int64_t{0});
      bool is_odd = false;
      for (std::size_t i = 0; i < pivots.size(); ++i) {
        const auto other = static_cast<std::size_t>(pivots[i] - 1);
        if (other == i) continue;
        std::swap(rows[i], rows[other]);
        is_odd = !is_odd;
      }
      sign.as<T>()[k] = is_odd ? T{-1} : T{1};
    });
  });
  results[0] = is_small ? std::move(y) : transposed(y);
  results[1] = std::move(permutation);
  results[2] = std::move(sign);
  return {};
}

Status qr(Run& run, std::span<Array> operands, std::span<Array> results, const ir::TensorType& q_type,
          const ir::TensorType& r_type) {
  const MatrixBatch batch(operands[0].shape());
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  BURN_TRY(Array a, column_major(run, operands[0]));
  BURN_TRY(Array q, run.allocate(transposed(q_type)));
  BURN_TRY(Array r, run.allocate(r_type));
  const auto k = q_type.shape.back();
  LapackWorkspaces room(run.pool);
  dispatch_real(a.dtype(), [&]<typename T>() {
    if (q.num_elements() + r.num_elements() == 0) return;  // of however many matrices
    for_each_matrix(batch, [&](std::int64_t m) {
      qr_of(to_int(batch.rows), to_int(batch.columns), to_int(k), a.as<T>() + m * batch.size(),
            q.as<T>() + m * batch.rows * k, r.as<T>() + m * k * batch.columns, room.allocator<T>());
    });
  });
  BURN_RETURN_IF_ERROR(room.status());
  results[0] = transposed(q);
  results[1] = std::move(r);
  return {};
}

Status svd(Run& run, std::span<Array> operands, std::span<Array> results, const std::vector<ir::TensorType>& types) {
  const MatrixBatch batch(operands[0].shape());
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  const auto least = static_cast<double>(batch.least());
  BURN_RETURN_IF_ERROR(check_lapack_work(batch, (4 * least + 7) * least));
  BURN_TRY(Array a, column_major(run, operands[0]));
  BURN_TRY(Array u, run.allocate(transposed(types[0])));
  BURN_TRY(Array s, run.allocate(types[1]));
  BURN_TRY(Array vt, run.allocate(transposed(types[2])));
  const auto rows = batch.rows, columns = batch.columns, k = batch.least();
  LapackWorkspaces room(run.pool);
  FirstFailure failure;
  dispatch_real(a.dtype(), [&]<typename T>() {
    if (batch.is_empty()) return;
    for_each_matrix(batch, [&](std::int64_t m) {
      T *from = a.as<T>() + m * batch.size(), *left = u.as<T>() + m * rows * k, *values = s.as<T>() + m * k,
        *right = vt.as<T>() + m * k * columns;
      if (!is_finite(from, batch.size())) {
        constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
        std::fill_n(left, rows * k, kNan);
        std::fill_n(values, k, kNan);
        std::fill_n(right, k * columns, kNan);
        return;
      }
      auto work = room.allocator<T>();
      const auto info = lapack::gesdd(to_int(rows), to_int(columns), from, values, left, right, work);
      if (info != 0 && info != lapack::kNoWorkspace) failure.found(m, info);
    });
  });
  BURN_RETURN_IF_ERROR(room.status());
  if (failure.any()) return ir::not_converged(failure.of(batch));
  results[0] = transposed(u);
  results[1] = std::move(s);
  results[2] = transposed(vt);
  return {};
}

Status eigh(Run& run, std::span<Array> operands, std::span<Array> results, const ir::TensorType& values_type) {
  const MatrixBatch batch(operands[0].shape());
  BURN_RETURN_IF_ERROR(check_lapack_sizes(batch));
  const auto size = static_cast<double>(batch.rows);
  BURN_RETURN_IF_ERROR(check_lapack_work(batch, (2 * size + 6) * size + 1));
  BURN_TRY(Array a, column_major(run, operands[0]));
  BURN_TRY(Array values, run.allocate(values_type));
  const auto n = batch.rows;
  LapackWorkspaces room(run.pool);
  FirstFailure failure;
  dispatch_real(a.dtype(), [&]<typename T>() {
    if (batch.is_empty()) return;
    for_each_matrix(batch, [&](std::int64_t k) {
      T *matrix = a.as<T>() + k * n * n, *found = values.as<T>() + k * n;
      bool finite = true;  // the lower triangle, column by column
      for (std::int64_t j = 0; j < n && finite; ++j) finite = is_finite(matrix + j * n + j, n - j);
      if (!finite) {
        std::fill_n(matrix, n * n, std::numeric_limits<T>::quiet_NaN());
        std::fill_n(found, n, std::numeric_limits<T>::quiet_NaN());
        return;
      }
      auto work = room.allocator<T>();
      const auto info = lapack::syevd(to_int(n), matrix, found, work);
      if (info != 0 && info != lapack::kNoWorkspace) failure.found(k, info);
    });
  });
  BURN_RETURN_IF_ERROR(room.status());
  if (failure.any()) return ir::not_converged(failure.of(batch));
  results[0] = std::move(values);
  results[1] = transposed(a);
  return {};
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Cholesky&, const Signature&) { return Kernel(cholesky); }

Result<Kernel> prepare(const ir::Lu&, const Signature& signature) {
  return Kernel([permutation = signature.results[1].type, sign = signature.results[2].type](
                    Run& run, std::span<Array> operands, std::span<Array> results) {
    return lu(run, operands, results, permutation, sign);
  });
}

Result<Kernel> prepare(const ir::Qr&, const Signature& signature) {
  return Kernel(
      [q = signature.results[0].type, r = signature.results[1].type](
          Run& run, std::span<Array> operands, std::span<Array> results) { return qr(run, operands, results, q, r); });
}

Result<Kernel> prepare(const ir::Svd&, const Signature& signature) {
  std::vector<ir::TensorType> types;
  for (const auto& result : signature.results) types.push_back(result.type);
  return Kernel([types = std::move(types)](Run& run, std::span<Array> operands, std::span<Array> results) {
    return svd(run, operands, results, types);
  });
}

Result<Kernel> prepare(const ir::Eigh&, const Signature& signature) {
  return Kernel([values = signature.results[0].type](Run& run, std::span<Array> operands, std::span<Array> results) {
    return eigh(run, operands, results, values);
  });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
