// Singular values and eigenvalues by rotations of pairs of columns until all are orthogonal (one-sided Jacobi: M. R.
// Hestenes, J. SIAM 6, 1958). A block for each matrix, a warp for each pair; pairs that share no column rotate side by
// side.
//
// Columns lie one after the other: w [columns, rows], v [columns, columns]. NVRTC only.
#pragma once

#include "backends/cuda/kernels/linalg.h"

namespace burn::cuda {

template <typename T>
BURN_ALWAYS_INLINE T sum_warp(T x) {
  for (int mask = 16; mask > 0; mask /= 2) x += __shfl_xor_sync(0xffffffffu, x, mask);
  return x;
}

template <typename T>
BURN_ALWAYS_INLINE bool is_finite(T x) {
  return x - x == T{0};
}

template <typename T>
BURN_ALWAYS_INLINE constexpr T precision() {
  return sizeof(T) == 8 ? T(2.2e-16) : T(1.2e-7);
}

// Rotates columns p and q of w, and of v with them, so that they are orthogonal. Whether they were not.
template <typename T>
BURN_ALWAYS_INLINE bool rotate(T* w, T* v, std::int64_t p, std::int64_t q, std::int64_t rows, std::int64_t columns) {
  const int lane = threadIdx.x % 32;
  T *a = w + p * rows, *b = w + q * rows;
  T aa{0}, bb{0}, ab{0};
  for (std::int64_t i = lane; i < rows; i += 32) {
    aa += a[i] * a[i];
    bb += b[i] * b[i];
    ab += a[i] * b[i];
  }
  aa = sum_warp(aa);
  bb = sum_warp(bb);
  ab = sum_warp(ab);
  const T size = ab < T{0} ? -ab : ab;
  // What rounds in a sum of so many products is no angle.
  if (!(size > precision<T>() * sqrt(static_cast<T>(rows)) * sqrt(aa) * sqrt(bb))) return false;
  const T zeta = (bb - aa) / (T{2} * ab);
  const T t = (zeta < T{0} ? T{-1} : T{1}) / ((zeta < T{0} ? -zeta : zeta) + sqrt(T{1} + zeta * zeta));
  const T c = T{1} / sqrt(T{1} + t * t), s = c * t;
  const auto turn = [&](T* x, T* y, std::int64_t n) {
    for (std::int64_t i = lane; i < n; i += 32) {
      const T old = x[i];
      x[i] = c * old - s * y[i];
      y[i] = s * old + c * y[i];
    }
  };
  turn(a, b, rows);
  turn(v + p * columns, v + q * columns, columns);
  return true;
}

// Rounds of pairs as in a tournament. False: not done after all sweeps.
template <typename T>
BURN_ALWAYS_INLINE bool orthogonalise(T* w, T* v, std::int64_t rows, std::int64_t columns) {
  constexpr int kSweeps = 60;
  __shared__ int is_rotated;
  const auto players = columns + columns % 2, rounds = players - 1;
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    __syncthreads();
    if (threadIdx.x == 0) is_rotated = 0;
    __syncthreads();
    for (std::int64_t round = 0; round < rounds; ++round) {
      for (std::int64_t pair = warp; pair < players / 2; pair += warps) {
        auto p = pair == 0 ? rounds : (round + pair) % rounds, q = (round - pair + rounds) % rounds;
        if (p > q) {
          const auto kept = p;
          p = q;
          q = kept;
        }
        if (q < columns && rotate(w, v, p, q, rows, columns)) is_rotated = 1;
        __syncwarp();
      }
      __syncthreads();
    }
    if (is_rotated == 0) return true;
  }
  return false;
}

// Where each comes in order; of equals, the first.
template <typename T>
BURN_ALWAYS_INLINE void rank_all(const T* values, std::int64_t* ranks, std::int64_t n, bool descending) {
  for_block(0, n, [&](std::int64_t i) {
    std::int64_t rank = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const bool is_before = descending ? values[j] > values[i] : values[j] < values[i];
      if (is_before || (values[j] == values[i] && j < i)) ++rank;
    }
    ranks[i] = rank;
  });
}

// Columns of u [rows, columns] (row-major) from `known` on: unit vectors, each without what lies along those before. By
// the first warp.
template <typename T>
BURN_ALWAYS_INLINE void complete(T* u, std::int64_t rows, std::int64_t columns, std::int64_t known) {
  if (threadIdx.x >= 32) return;
  const int lane = threadIdx.x;
  std::int64_t next = 0;
  for (auto k = known; k < columns; ++k) {
    for (; next < rows; ++next) {
      for (std::int64_t i = lane; i < rows; i += 32) u[i * columns + k] = i == next ? T{1} : T{0};
      __syncwarp();
      for (int twice = 0; twice < 2; ++twice) {
        for (std::int64_t j = 0; j < k; ++j) {
          T along{0};
          for (std::int64_t i = lane; i < rows; i += 32) along += u[i * columns + j] * u[i * columns + k];
          along = sum_warp(along);
          for (std::int64_t i = lane; i < rows; i += 32) u[i * columns + k] -= along * u[i * columns + j];
          __syncwarp();
        }
      }
      T square{0};
      for (std::int64_t i = lane; i < rows; i += 32) square += u[i * columns + k] * u[i * columns + k];
      square = sum_warp(square);
      // Of all unit vectors, one has at least this much left.
      if (!(square * T(4) * static_cast<T>(rows) > T{1})) continue;
      for (std::int64_t i = lane; i < rows; i += 32) u[i * columns + k] /= sqrt(square);
      __syncwarp();
      ++next;
      break;
    }
  }
}

// x: [rows, columns]; u: [rows, k], s: [k], vt: [k, columns]. Room: w, v as above for the longer side as rows, values
// and ranks [k].
template <typename T>
BURN_ALWAYS_INLINE void svd(const T* x, T* u, T* s, T* vt, T* w, T* v, T* values, std::int64_t* ranks,
                            std::int64_t* report, const MatrixShape& shape) {
  const bool is_wide = shape.columns > shape.rows;
  const auto n = is_wide ? shape.columns : shape.rows, k = is_wide ? shape.rows : shape.columns;
  const std::int64_t matrix = blockIdx.x;
  x += matrix * n * k;
  u += matrix * shape.rows * k;
  s += matrix * k;
  vt += matrix * k * shape.columns;
  w += matrix * n * k;
  v += matrix * k * k;
  values += matrix * k;
  ranks += matrix * k;
  T outside{0};
  for_block(0, k, 0, n, [&](std::int64_t j, std::int64_t i) {
    const T value = is_wide ? x[j * n + i] : x[i * k + j];
    if (!is_finite(value)) outside = T{1};
    w[j * n + i] = value;
  });
  for_block(0, k, 0, k, [&](std::int64_t i, std::int64_t j) { v[i * k + j] = i == j ? T{1} : T{0}; });
  if (sum_block(outside) > T{0}) {
    const T nan = sqrt(T{-1});
    for_block(0, shape.rows * k, [&](std::int64_t i) { u[i] = nan; });
    for_block(0, k, [&](std::int64_t i) { s[i] = nan; });
    for_block(0, k * shape.columns, [&](std::int64_t i) { vt[i] = nan; });
    return;
  }
  if (!orthogonalise(w, v, n, k) && threadIdx.x == 0) report_matrix(report, matrix, 0);
  __syncthreads();
  for_block(0, k, [&](std::int64_t j) {
    T square{0};
    for (std::int64_t i = 0; i < n; ++i) square += w[j * n + i] * w[j * n + i];
    values[j] = sqrt(square);
  });
  __syncthreads();
  rank_all(values, ranks, k, true);
  __syncthreads();
  // The columns of w are the left vectors times the values, those of v the right ones; of a wide matrix the other way.
  T known{0};
  for_block(0, k, [&](std::int64_t j) {
    s[ranks[j]] = values[j];
    if (values[j] > T{0}) known += T{1};
  });
  const auto count = static_cast<std::int64_t>(sum_block(known));
  T* long_side = is_wide ? w : u;  // where complete() can work: row-major [n, k]
  for_block(0, k, 0, k, [&](std::int64_t j, std::int64_t i) {
    if (is_wide)
      u[i * k + ranks[j]] = v[j * k + i];
    else
      vt[ranks[j] * k + i] = v[j * k + i];
  });
  if (is_wide) {
    for_block(0, k, 0, n, [&](std::int64_t j, std::int64_t i) {
      vt[ranks[j] * n + i] = values[j] > T{0} ? w[j * n + i] / values[j] : T{0};
    });
    if (count < k) {
      __syncthreads();
      for_block(0, n, 0, k, [&](std::int64_t i, std::int64_t j) { w[i * k + j] = vt[j * n + i]; });
    }
  } else {
    for_block(0, k, 0, n, [&](std::int64_t j, std::int64_t i) {
      u[i * k + ranks[j]] = values[j] > T{0} ? w[j * n + i] / values[j] : T{0};
    });
  }
  if (count == k) return;
  __syncthreads();
  complete(long_side, n, k, count);
  __syncthreads();
  if (is_wide) for_block(0, n, 0, k, [&](std::int64_t i, std::int64_t j) { vt[j * n + i] = w[i * k + j]; });
}

// The eigenvectors of a symmetric matrix are the singular vectors of x + c I, which with c = |x| has no negative
// eigenvalue; the eigenvalues are v^T x v. Room as for svd.
template <typename T>
BURN_ALWAYS_INLINE void eigh(const T* x, T* values, T* vectors, T* w, T* v, T* found, std::int64_t* ranks,
                             std::int64_t* report, const MatrixShape& shape) {
  const auto n = shape.rows;
  const std::int64_t matrix = blockIdx.x;
  x += matrix * n * n;
  values += matrix * n;
  vectors += matrix * n * n;
  w += matrix * n * n;
  v += matrix * n * n;
  found += matrix * n;
  ranks += matrix * n;
  const auto at = [&](std::int64_t i, std::int64_t j) { return i >= j ? x[i * n + j] : x[j * n + i]; };
  T outside{0}, squares{0};
  for_block(0, n, 0, n, [&](std::int64_t i, std::int64_t j) {
    if (!is_finite(at(i, j))) outside = T{1};
    squares += at(i, j) * at(i, j);
    v[i * n + j] = i == j ? T{1} : T{0};
  });
  if (sum_block(outside) > T{0}) {
    const T nan = sqrt(T{-1});
    for_block(0, n, [&](std::int64_t i) { values[i] = nan; });
    for_block(0, n * n, [&](std::int64_t i) { vectors[i] = nan; });
    return;
  }
  const T size = sqrt(sum_block(squares));
  for_block(0, n, 0, n, [&](std::int64_t i, std::int64_t j) { w[i * n + j] = at(i, j) + (i == j ? size : T{0}); });
  if (!orthogonalise(w, v, n, n) && threadIdx.x == 0) report_matrix(report, matrix, 0);
  __syncthreads();
  for_block(0, n, [&](std::int64_t k) {
    T sum{0};
    for (std::int64_t i = 0; i < n; ++i) {
      T line{0};
      for (std::int64_t j = 0; j < n; ++j) line += at(i, j) * v[k * n + j];
      sum += line * v[k * n + i];
    }
    found[k] = sum;
  });
  __syncthreads();
  rank_all(found, ranks, n, false);
  __syncthreads();
  for_block(0, n, [&](std::int64_t k) { values[ranks[k]] = found[k]; });
  for_block(0, n, 0, n, [&](std::int64_t k, std::int64_t i) { vectors[i * n + ranks[k]] = v[k * n + i]; });
}

}  // namespace burn::cuda
