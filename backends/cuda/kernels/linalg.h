// Factorisations of batches of matrices, row-major: a block for each matrix, which stays where it is (a small one in
// the caches). The threads of a block share every step: what one writes others read after the next __syncthreads().
//
// NVRTC only. What a matrix has no answer for is reported as matrix * 2^32 + a number that the host explains.
#pragma once

#include "backends/cuda/kernels/shapes.h"
#include "ir/semantics/device.h"

namespace burn::cuda {

// Of one matrix: [rows, columns] with so many right-hand sides or columns of Q.
struct MatrixShape {
  std::int64_t rows = 0, columns = 0, others = 0;
};

BURN_ALWAYS_INLINE void report_matrix(std::int64_t* report, std::int64_t matrix, std::int64_t number) {
  report[0] = matrix << 32 | number;
  report[1] = 1;
}

// Calls body(i) for i in [from, to), on all threads of the block.
template <typename Body>
BURN_ALWAYS_INLINE void for_block(std::int64_t from, std::int64_t to, const Body& body) {
  for (auto i = from + threadIdx.x; i < to; i += blockDim.x) body(i);
}

// The same over pairs, j running fastest.
template <typename Body>
BURN_ALWAYS_INLINE void for_block(std::int64_t i0, std::int64_t i1, std::int64_t j0, std::int64_t j1,
                                  const Body& body) {
  const auto width = j1 - j0;
  if (width <= 0 || i1 <= i0) return;
  for (std::int64_t at = threadIdx.x; at < (i1 - i0) * width; at += blockDim.x) body(i0 + at / width, j0 + at % width);
}

template <typename T>
BURN_ALWAYS_INLINE T sum_block(T x) {
  __shared__ T partial[kThreads];
  __syncthreads();
  partial[threadIdx.x] = x;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  return partial[0];
}

// --- Cholesky --------------------------------------------------------------------------------------------------------

template <typename T>
BURN_ALWAYS_INLINE void cholesky(const T* x, T* y, std::int64_t* report, const MatrixShape& shape) {
  const auto n = shape.rows;
  x += blockIdx.x * n * n;
  y += blockIdx.x * n * n;
  for_block(0, n, 0, n, [&](std::int64_t i, std::int64_t j) { y[i * n + j] = j <= i ? x[i * n + j] : T{0}; });
  for (std::int64_t k = 0; k < n; ++k) {
    __syncthreads();
    const T pivot = y[k * n + k];
    if (!(pivot > T{0})) {
      if (threadIdx.x == 0) report_matrix(report, blockIdx.x, k + 1);
      return;
    }
    const T root = sqrt(pivot);
    __syncthreads();
    for_block(k, n, [&](std::int64_t i) { y[i * n + k] = i == k ? root : y[i * n + k] / root; });
    __syncthreads();
    for_block(k + 1, n, k + 1, n, [&](std::int64_t i, std::int64_t j) {
      if (j <= i) y[i * n + j] -= y[i * n + k] * y[j * n + k];
    });
  }
}

// --- elimination -----------------------------------------------------------------------------------------------------

// The row, from k on, whose element of column k is the largest; the first of equals, a NaN before all others.
template <typename T>
BURN_ALWAYS_INLINE std::int64_t find_pivot(const T* y, std::int64_t k, std::int64_t rows, std::int64_t columns) {
  __shared__ T sizes[kThreads];
  __shared__ std::int64_t places[kThreads];
  const auto beats = [](T a, std::int64_t at, T b, std::int64_t other) {
    if (a != a || b != b) return a != a && (b == b || at < other);
    return a > b || (a == b && at < other);
  };
  T best = T{-1};
  std::int64_t place = rows;
  for_block(k, rows, [&](std::int64_t i) {
    const T size = y[i * columns + k] < T{0} ? -y[i * columns + k] : y[i * columns + k];
    if (beats(size, i, best, place)) {
      best = size;
      place = i;
    }
  });
  __syncthreads();
  sizes[threadIdx.x] = best;
  places[threadIdx.x] = place;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      const auto other = threadIdx.x + half;
      if (beats(sizes[other], places[other], sizes[threadIdx.x], places[threadIdx.x])) {
        sizes[threadIdx.x] = sizes[other];
        places[threadIdx.x] = places[other];
      }
    }
    __syncthreads();
  }
  return places[0];
}

template <typename T>
BURN_ALWAYS_INLINE void swap_rows(T* y, std::int64_t a, std::int64_t b, std::int64_t columns) {
  for_block(0, columns, [&](std::int64_t j) {
    const T kept = y[a * columns + j];
    y[a * columns + j] = y[b * columns + j];
    y[b * columns + j] = kept;
  });
}

// y becomes L and U; `swapped(a, b)` is told of rows that change places, `eliminated(k)` of the pivots, after column k
// of L is there.
template <typename T, typename Swapped, typename Eliminated>
BURN_ALWAYS_INLINE void eliminate(T* y, std::int64_t rows, std::int64_t columns, const Swapped& swapped,
                                  const Eliminated& eliminated) {
  for (std::int64_t k = 0; k < rows && k < columns; ++k) {
    __syncthreads();
    const auto pivot = find_pivot(y, k, rows, columns);
    if (pivot != k) {
      swap_rows(y, k, pivot, columns);
      swapped(k, pivot);
    }
    __syncthreads();
    const T by = y[k * columns + k];
    if (by != T{0}) {
      for_block(k + 1, rows, [&](std::int64_t i) { y[i * columns + k] /= by; });
      __syncthreads();
      for_block(k + 1, rows, k + 1, columns,
                [&](std::int64_t i, std::int64_t j) { y[i * columns + j] -= y[i * columns + k] * y[k * columns + j]; });
    }
    eliminated(k, by);
  }
  __syncthreads();
}

template <typename T>
BURN_ALWAYS_INLINE void lu(const T* x, T* y, std::int64_t* permutation, T* sign, const MatrixShape& shape) {
  const auto rows = shape.rows, columns = shape.columns;
  x += blockIdx.x * rows * columns;
  y += blockIdx.x * rows * columns;
  permutation += blockIdx.x * rows;
  for_block(0, rows * columns, [&](std::int64_t i) { y[i] = x[i]; });
  for_block(0, rows, [&](std::int64_t i) { permutation[i] = i; });
  bool is_odd = false;
  eliminate(
      y, rows, columns,
      [&](std::int64_t a, std::int64_t b) {
        is_odd = !is_odd;
        if (threadIdx.x > 0) return;
        const auto kept = permutation[a];
        permutation[a] = permutation[b];
        permutation[b] = kept;
      },
      [](std::int64_t, T) {});
  if (threadIdx.x == 0) sign[blockIdx.x] = is_odd ? T{-1} : T{1};
}

// `a`: a copy that is lost; `x`: the right-hand sides, which become the solution.
template <typename T>
BURN_ALWAYS_INLINE void solve(T* a, T* x, std::int64_t* report, const MatrixShape& shape) {
  const auto n = shape.rows, columns = shape.others;
  a += blockIdx.x * n * n;
  x += blockIdx.x * n * columns;
  bool is_singular = false;
  eliminate(
      a, n, n, [&](std::int64_t k, std::int64_t other) { swap_rows(x, k, other, columns); },
      [&](std::int64_t k, T pivot) {
        if (pivot == T{0} && !is_singular) {
          is_singular = true;
          if (threadIdx.x == 0) report_matrix(report, blockIdx.x, k);
        }
        for_block(k + 1, n, 0, columns,
                  [&](std::int64_t i, std::int64_t j) { x[i * columns + j] -= a[i * n + k] * x[k * columns + j]; });
      });
  for (auto k = n - 1; k >= 0; --k) {
    for_block(0, columns, [&](std::int64_t j) { x[k * columns + j] /= a[k * n + k]; });
    __syncthreads();
    for_block(0, k, 0, columns,
              [&](std::int64_t i, std::int64_t j) { x[i * columns + j] -= a[i * n + k] * x[k * columns + j]; });
    __syncthreads();
  }
}

// blockIdx.y takes its share of the columns of x.
template <typename T>
BURN_ALWAYS_INLINE void solve_triangular(const T* a, T* x, bool lower, bool unit, const MatrixShape& shape) {
  const auto n = shape.rows, columns = shape.others, share = (columns + gridDim.y - 1) / gridDim.y;
  const auto first = blockIdx.y * share, last = first + share < columns ? first + share : columns;
  a += blockIdx.x * n * n;
  x += blockIdx.x * n * columns;
  for (std::int64_t step = 0; step < n; ++step) {
    const auto k = lower ? step : n - 1 - step;
    if (!unit) {
      for_block(first, last, [&](std::int64_t j) { x[k * columns + j] /= a[k * n + k]; });
      __syncthreads();
    }
    for_block(lower ? k + 1 : 0, lower ? n : k, first, last,
              [&](std::int64_t i, std::int64_t j) { x[i * columns + j] -= a[i * n + k] * x[k * columns + j]; });
    __syncthreads();
  }
}

// --- QR --------------------------------------------------------------------------------------------------------------

// Columns [from, to) of y without what lies along the reflector that column k of `a`, from row k on, holds.
template <typename T>
BURN_ALWAYS_INLINE void reflect(const T* a, std::int64_t stride, T tau, T* y, std::int64_t columns, std::int64_t k,
                                std::int64_t rows, std::int64_t from, std::int64_t to) {
  for_block(from, to, [&](std::int64_t j) {
    T along = y[k * columns + j];
    for (auto i = k + 1; i < rows; ++i) along += a[i * stride + k] * y[i * columns + j];
    along *= tau;
    y[k * columns + j] -= along;
    for (auto i = k + 1; i < rows; ++i) y[i * columns + j] -= along * a[i * stride + k];
  });
}

// `a`: a copy that becomes R and, below it, reflectors; `taus`: [min(rows, columns)]; q: [rows, others], r: [others,
// columns].
template <typename T>
BURN_ALWAYS_INLINE void qr(T* a, T* taus, T* q, T* r, const MatrixShape& shape) {
  const auto rows = shape.rows, columns = shape.columns, others = shape.others;
  const auto least = rows < columns ? rows : columns;
  a += blockIdx.x * rows * columns;
  taus += blockIdx.x * least;
  q += blockIdx.x * rows * others;
  r += blockIdx.x * others * columns;
  for (std::int64_t k = 0; k < least; ++k) {
    __syncthreads();
    T mine{0};
    for_block(k + 1, rows, [&](std::int64_t i) { mine += a[i * columns + k] * a[i * columns + k]; });
    const T below = sum_block(mine), top = a[k * columns + k];
    const T length = sqrt(top * top + below);
    // Away from zero, so that nothing cancels; a column that is done already stays.
    const T to = below == T{0} ? top : top > T{0} ? -length : length;
    const T tau = below == T{0} ? T{0} : (to - top) / to;
    __syncthreads();
    for_block(k, rows, [&](std::int64_t i) {
      if (i == k)
        a[i * columns + k] = to;
      else
        a[i * columns + k] = below == T{0} ? T{0} : a[i * columns + k] / (top - to);
    });
    if (threadIdx.x == 0) taus[k] = tau;
    __syncthreads();
    reflect(a, columns, tau, a, columns, k, rows, k + 1, columns);
  }
  __syncthreads();
  for_block(0, rows, 0, others, [&](std::int64_t i, std::int64_t j) { q[i * others + j] = i == j ? T{1} : T{0}; });
  for (auto k = least - 1; k >= 0; --k) {
    __syncthreads();
    reflect(a, columns, taus[k], q, others, k, rows, 0, others);
  }
  __syncthreads();
  // The one with a diagonal that is not negative.
  const auto is_turned = [&](std::int64_t i) { return i < least && a[i * columns + i] < T{0}; };
  for_block(0, rows, 0, others, [&](std::int64_t i, std::int64_t j) {
    if (is_turned(j)) q[i * others + j] = -q[i * others + j];
  });
  for_block(0, others, 0, columns, [&](std::int64_t i, std::int64_t j) {
    const T value = i <= j && i < least ? a[i * columns + j] : T{0};
    r[i * columns + j] = is_turned(i) ? -value : value;
  });
}

}  // namespace burn::cuda
