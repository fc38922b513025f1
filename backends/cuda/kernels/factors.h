// What goes before and after factorisations by a library: it has columns where programs have rows, and tells its
// failures by numbers of its own. blockIdx.x is the matrix, the blocks along y share its elements. NVRTC only.
#pragma once

#include "backends/cuda/kernels/linalg.h"

namespace burn::cuda {

// Calls body(i) for i in [0, count), on all threads of a matrix.
template <typename Body>
BURN_ALWAYS_INLINE void for_matrix(std::int64_t count, const Body& body) {
  const auto step = static_cast<std::int64_t>(gridDim.y) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x; i < count; i += step) body(i);
}

// Where the matrices of a batch begin; those of b, where there is one, behind all of a.
BURN_ALWAYS_INLINE void find_matrices(char* a, char* b, std::int64_t* pointers, std::int64_t count,
                                      std::int64_t a_bytes, std::int64_t b_bytes) {
  const auto k = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (k >= count) return;
  pointers[k] = reinterpret_cast<std::int64_t>(a + k * a_bytes);
  if (b_bytes > 0) pointers[count + k] = reinterpret_cast<std::int64_t>(b + k * b_bytes);
}

// y: [n, n], of which the lower triangle is the factor.
template <typename T>
BURN_ALWAYS_INLINE void finish_cholesky(T* y, const int* infos, std::int64_t* report, const MatrixShape& shape) {
  const auto n = shape.rows;
  y += blockIdx.x * n * n;
  for_matrix(n * n, [&](std::int64_t i) {
    if (i % n > i / n) y[i] = T{0};
  });
  if (blockIdx.y > 0) return;
  __shared__ int first;  // from 1: the leading minor that is not positive; NaN is not
  if (threadIdx.x == 0) first = 0x7fffffff;
  __syncthreads();
  for_block(0, n, [&](std::int64_t i) {
    if (!(y[i * n + i] > T{0})) atomicMin(&first, static_cast<int>(i + 1));
  });
  __syncthreads();
  if (threadIdx.x > 0) return;
  const int info = infos[blockIdx.x];
  if (info > 0 || first != 0x7fffffff) report_matrix(report, blockIdx.x, info > 0 ? info : first);
}

// Row k changed places with row pivots[k] - 1, one k after the other; a pivot that is none, as where there are NaN,
// changed nothing.
BURN_ALWAYS_INLINE std::int64_t pivot_of(const int* pivots, std::int64_t k, std::int64_t rows) {
  const std::int64_t other = pivots[k] - 1;
  return other < k || other >= rows ? k : other;
}

template <typename T>
BURN_ALWAYS_INLINE void finish_lu(const int* pivots, std::int64_t* permutation, T* sign, const MatrixShape& shape) {
  const auto rows = shape.rows, least = rows < shape.columns ? rows : shape.columns;
  pivots += blockIdx.x * least;
  permutation += blockIdx.x * rows;
  for_matrix(rows, [&](std::int64_t i) {
    auto from = i;
    for (auto k = least - 1; k >= 0; --k) {
      const auto other = pivot_of(pivots, k, rows);
      from = from == k ? other : from == other ? k : from;
    }
    permutation[i] = from;
  });
  if (blockIdx.y > 0) return;
  __shared__ int changes;
  if (threadIdx.x == 0) changes = 0;
  __syncthreads();
  for_block(0, least, [&](std::int64_t k) {
    if (pivot_of(pivots, k, rows) != k) atomicAdd(&changes, 1);
  });
  __syncthreads();
  if (threadIdx.x == 0) sign[blockIdx.x] = changes % 2 == 1 ? T{-1} : T{1};
}

// Before substitution: makes pivots of all numbers, and says where one is 0. One block for a matrix.
BURN_ALWAYS_INLINE void check_pivots(int* pivots, const int* infos, std::int64_t* report, const MatrixShape& shape) {
  pivots += blockIdx.x * shape.rows;
  for_block(0, shape.rows, [&](std::int64_t k) { pivots[k] = static_cast<int>(pivot_of(pivots, k, shape.rows)) + 1; });
  if (threadIdx.x == 0 && infos[blockIdx.x] > 0) report_matrix(report, blockIdx.x, infos[blockIdx.x] - 1);
}

// a: `width` columns of `rows` elements. r: [others, columns]; signs: [others], -1 where a row of R, and so a column of
// Q, is turned.
template <typename T>
BURN_ALWAYS_INLINE void finish_r(const T* a, T* r, T* signs, std::int64_t width, const MatrixShape& shape) {
  const auto rows = shape.rows, columns = shape.columns, others = shape.others;
  const auto least = rows < columns ? rows : columns;
  a += blockIdx.x * width * rows;
  r += blockIdx.x * others * columns;
  signs += blockIdx.x * others;
  const auto is_turned = [&](std::int64_t i) { return i < least && a[i * rows + i] < T{0}; };
  for_matrix(others * columns, [&](std::int64_t at) {
    const auto i = at / columns, j = at % columns;
    const T value = i <= j && i < least ? a[j * rows + i] : T{0};
    r[at] = is_turned(i) ? -value : value;
  });
  for_matrix(others, [&](std::int64_t i) { signs[i] = is_turned(i) ? T{-1} : T{1}; });
}

// q: [rows, others].
template <typename T>
BURN_ALWAYS_INLINE void finish_q(const T* a, const T* signs, T* q, std::int64_t width, const MatrixShape& shape) {
  const auto rows = shape.rows, others = shape.others;
  a += blockIdx.x * width * rows;
  q += blockIdx.x * rows * others;
  signs += blockIdx.x * others;
  for_matrix(rows * others, [&](std::int64_t at) {
    const auto i = at / others, j = at % others;
    q[at] = a[j * rows + i] * signs[j];
  });
}

// Marks matrices with NaN or infinity, in their lower triangle or everywhere.
template <typename T>
BURN_ALWAYS_INLINE void mark_outside(const T* x, int* marks, bool lower, const MatrixShape& shape) {
  x += blockIdx.x * shape.rows * shape.columns;
  bool is_outside = false;
  for_matrix(shape.rows * shape.columns, [&](std::int64_t i) {
    if (lower && i % shape.columns > i / shape.columns) return;
    is_outside = is_outside || !(x[i] - x[i] == T{0});
  });
  if (is_outside) marks[blockIdx.x] = 1;
}

// A copy; of marked ones zeros.
template <typename T>
BURN_ALWAYS_INLINE void copy_unmarked(const T* x, const int* marks, T* y, const MatrixShape& shape) {
  const auto size = shape.rows * shape.columns;
  const bool is_marked = marks[blockIdx.x] != 0;
  for_matrix(size, [&](std::int64_t i) { y[blockIdx.x * size + i] = is_marked ? T{0} : x[blockIdx.x * size + i]; });
}

// u: [rows, k], the transpose of what is at `columns_of_u`; s: [k], vt: [k, columns].
template <typename T>
BURN_ALWAYS_INLINE void finish_svd(const T* columns_of_u, const int* marks, const int* infos, T* u, T* s, T* vt,
                                   std::int64_t* report, const MatrixShape& shape) {
  const auto rows = shape.rows, columns = shape.columns, k = rows < columns ? rows : columns;
  const bool is_marked = marks[blockIdx.x] != 0;
  const T nan = sqrt(T{-1});
  for_matrix(rows * k, [&](std::int64_t at) {
    const auto i = at / k, j = at % k;
    u[blockIdx.x * rows * k + at] = is_marked ? nan : columns_of_u[blockIdx.x * rows * k + j * rows + i];
  });
  if (is_marked) {
    for_matrix(k, [&](std::int64_t i) { s[blockIdx.x * k + i] = nan; });
    for_matrix(k * columns, [&](std::int64_t i) { vt[blockIdx.x * k * columns + i] = nan; });
  } else if (infos[blockIdx.x] != 0 && blockIdx.y == 0 && threadIdx.x == 0) {
    report_matrix(report, blockIdx.x, 0);
  }
}

// vectors: [n, n], the transpose of w; values: [n].
template <typename T>
BURN_ALWAYS_INLINE void finish_eigh(const T* w, const int* marks, const int* infos, T* values, T* vectors,
                                    std::int64_t* report, const MatrixShape& shape) {
  const auto n = shape.rows;
  const bool is_marked = marks[blockIdx.x] != 0;
  const T nan = sqrt(T{-1});
  for_matrix(n * n, [&](std::int64_t at) {
    const auto i = at / n, j = at % n;
    vectors[blockIdx.x * n * n + at] = is_marked ? nan : w[blockIdx.x * n * n + j * n + i];
  });
  if (is_marked)
    for_matrix(n, [&](std::int64_t i) { values[blockIdx.x * n + i] = nan; });
  else if (infos[blockIdx.x] != 0 && blockIdx.y == 0 && threadIdx.x == 0)
    report_matrix(report, blockIdx.x, 0);
}

}  // namespace burn::cuda
