#include "backends/cpu/ops/gemm.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include <cblas.h>

#include "backends/cpu/parallel.h"

namespace burn::backends::cpu {
namespace {

constexpr std::int64_t kBlasMax = std::numeric_limits<blasint>::max();
constexpr std::int64_t kSmall = 1 << 18;  // multiply-adds not worth a second thread; OpenBLAS thinks so too

CBLAS_TRANSPOSE order(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

template <typename T>
bool fits_blas(const Product<T>& p) {
  return std::max({p.m, p.n, p.k, p.a.stride, p.b.stride, p.c_stride}) <= kBlasMax;
}

template <typename T>
void call_blas(const Product<T>& p) {
  const auto i = [](std::int64_t size) { return static_cast<blasint>(size); };
  if constexpr (std::is_same_v<T, float>) {
    cblas_sgemm(CblasRowMajor, order(p.a.transposed), order(p.b.transposed), i(p.m), i(p.n), i(p.k), p.alpha, p.a.data,
                i(p.a.stride), p.b.data, i(p.b.stride), p.beta, p.c, i(p.c_stride));
  } else {
    cblas_dgemm(CblasRowMajor, order(p.a.transposed), order(p.b.transposed), i(p.m), i(p.n), i(p.k), p.alpha, p.a.data,
                i(p.a.stride), p.b.data, i(p.b.stride), p.beta, p.c, i(p.c_stride));
  }
}

// Row by row of the result, so that the inner loop runs over contiguous memory.
template <typename T>
void multiply_plainly(const Product<T>& p) {
  const auto at = [](const Matrix<T>& x, std::int64_t i, std::int64_t j) {
    return x.transposed ? x.data[j * x.stride + i] : x.data[i * x.stride + j];
  };
  for (std::int64_t i = 0; i < p.m; ++i) {
    T* row = p.c + i * p.c_stride;
    if (p.beta == 0)
      std::fill_n(row, p.n, T{0});
    else
      for (std::int64_t j = 0; j < p.n; ++j) row[j] = static_cast<T>(row[j] * p.beta);
    for (std::int64_t k = 0; k < p.k; ++k) {
      const T factor = static_cast<T>(p.alpha * at(p.a, i, k));
      if (p.b.transposed) {
        for (std::int64_t j = 0; j < p.n; ++j) row[j] = static_cast<T>(row[j] + factor * at(p.b, k, j));
      } else {
        const T* from = p.b.data + k * p.b.stride;
        for (std::int64_t j = 0; j < p.n; ++j) row[j] = static_cast<T>(row[j] + factor * from[j]);
      }
    }
  }
}

// Rows [row, row + rows) and columns [column, column + columns) of the result.
template <typename T>
Product<T> part(Product<T> p, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
  p.a.data += row * (p.a.transposed ? 1 : p.a.stride);
  p.b.data += column * (p.b.transposed ? p.b.stride : 1);
  p.c += row * p.c_stride + column;
  p.m = rows;
  p.n = columns;
  return p;
}

// Into how many bands of rows to cut, of `parts` pieces in all: the one with the least to read.
std::int64_t row_bands(std::int64_t m, std::int64_t n, std::int64_t parts) {
  std::int64_t best = 1;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t bands = 1; bands <= parts; ++bands) {
    if (parts % bands != 0) continue;
    const double cost = static_cast<double>(m) / static_cast<double>(bands) +
                        static_cast<double>(n) * static_cast<double>(bands) / static_cast<double>(parts);
    if (cost < least) {
      best = bands;
      least = cost;
    }
  }
  return best;
}

}  // namespace

template <typename T>
void multiply_here(const Product<T>& p) {
  if (p.m == 0 || p.n == 0) return;
  if constexpr (std::is_floating_point_v<T>) {
    if (p.k > 0 && fits_blas(p)) return call_blas(p);
  }
  multiply_plainly(p);
}

template <typename T>
void multiply(const Product<T>& p) {
  constexpr std::int64_t kTile = 16;  // bands are multiples of what the inner kernels compute at once
  const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const auto parts = std::min<std::int64_t>(thread_count(), static_cast<std::int64_t>(std::min(work / kSmall, 1e6)));
  if (parts <= 1) return multiply_here(p);

  const auto bands = row_bands(p.m, p.n, parts), stripes = parts / bands;
  const auto step = [](std::int64_t size, std::int64_t pieces) {
    return ((size + pieces - 1) / pieces + kTile - 1) / kTile * kTile;
  };
  const auto rows = step(p.m, bands), columns = step(p.n, stripes);
  parallel_for(parts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto row = i / stripes * rows, column = i % stripes * columns;
      if (row >= p.m || column >= p.n) continue;
      multiply_here(part(p, row, std::min(rows, p.m - row), column, std::min(columns, p.n - column)));
    }
  });
}

#define BURN_INSTANTIATE(T)                     \
  template void multiply<T>(const Product<T>&); \
  template void multiply_here<T>(const Product<T>&);
BURN_INSTANTIATE(float)
BURN_INSTANTIATE(double)
BURN_INSTANTIATE(std::int64_t)
BURN_INSTANTIATE(std::int32_t)
BURN_INSTANTIATE(std::int16_t)
BURN_INSTANTIATE(std::int8_t)
BURN_INSTANTIATE(std::uint64_t)
BURN_INSTANTIATE(std::uint32_t)
BURN_INSTANTIATE(std::uint16_t)
BURN_INSTANTIATE(std::uint8_t)
#undef BURN_INSTANTIATE

}  // namespace burn::backends::cpu
