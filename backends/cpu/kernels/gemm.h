// Dense matrix products on several threads: OpenBLAS, oneDNN or our own tiles for f32, OpenBLAS for f64, our own loops
// for integers. Which of them, and how a product is cut, is chosen by timing, once for each class of sizes
// (backends/autotune.h); their sums differ in the last digits.
//
// Libraries are only called for one thread's part of a product, as OpenBLAS' own threading serialises products of
// different callers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/status.h"

namespace burn::backends::cpu {

// A matrix that BLAS can read in place: rows `stride` elements apart, or columns if transposed.
template <typename T>
struct Matrix {
  const T* data;
  std::int64_t stride;
  bool transposed;
};

// One product of a batch: c [m, n] row-major = alpha a [m, k] b [k, n] + beta c. With beta 0, the old content of c is
// ignored.
template <typename T>
struct Product {
  std::int64_t m, n, k;
  Matrix<T> a, b;
  T* c;
  std::int64_t c_stride;
  T alpha = 1, beta = 0;
};

// Rows [row, row + rows) and columns [column, column + columns) of the result.
template <typename T>
Product<T> part_of(Product<T> p, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
  p.a.data += row * (p.a.transposed ? 1 : p.a.stride);
  p.b.data += column * (p.b.transposed ? p.b.stride : 1);
  p.c += row * p.c_stride + column;
  p.m = rows;
  p.n = columns;
  return p;
}

// Identifies a choice among methods for products of one class of sizes: see choose_product().
using ProductCode = std::uint64_t;
inline constexpr int kNoChoiceYet = -2;
template <typename T>
ProductCode product_code(const Product<T>& product, std::int64_t batch, int kind, std::size_t ways);
int known_choice(ProductCode code);  // takes no lock
int make_choice(ProductCode code, std::span<const std::string_view> names, const std::function<Status(int)>& run);

// Chooses among `names` for `batch` products like this one, by timing, once for each class of sizes: run(i) computes
// them all with the i-th and returns a Status. `kind`: a number below 64 for the dtype and the choice.
template <typename T, typename Run>
int choose_product(const Product<T>& product, std::int64_t batch, int kind, std::span<const std::string_view> names,
                   const Run& run) {
  const auto code = product_code(product, batch, kind, names.size());
  const int known = known_choice(code);
  return known != kNoChoiceYet ? known : make_choice(code, names, run);
}

// Multiply-adds from which on methods are worth timing.
inline constexpr double kWorthTiming = 1 << 15;
template <typename T>
double work_of(const Product<T>& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

// T: float, double, or an integer, whose operands are never transposed.
template <typename T>
void multiply(const Product<T>& product);

// The source of a kernel, among those that support T. oneDNN has two for f32: its gemm, and kernels that it generates
// for given sizes (backends/cpu/kernels/half_products.h). Tiles are our own (dot_products.h).
enum class Library { openblas, onednn, generated, tiles };
inline constexpr std::string_view kLibraryNames[] = {"openblas", "onednn", "onednn for its sizes", "tiles of AVX-512"};
bool is_there(Library library);

// Into how many bands of rows to cut a product of `parts` pieces in all: the number with the least data to read.
std::int64_t row_bands(std::int64_t m, std::int64_t n, std::int64_t parts);

// On the calling thread only, except that tiles use several unless it is running a part already. What a library does
// not support is passed to the next one.
template <typename T>
void multiply_here(const Product<T>& product, Library library = Library::openblas);

// Chooses the library for `batch` products like this one, each on one thread; `run` computes them all with a library.
template <typename T>
Library library_for_batch(const Product<T>& product, std::int64_t batch, const std::function<void(Library)>& run);

}  // namespace burn::backends::cpu
