// Dense matrix products on several threads: OpenBLAS or oneDNN for f32, OpenBLAS for f64, plain loops for the rest.
// Which of the two, and how a product is cut, is timed once for each class of sizes (backends/autotune.h); their sums
// differ in the last digits.
//
// Libraries are only called for one thread's part of a product: OpenBLAS' own threading serialises products of
// different callers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace burn::backends::cpu {

// A matrix that BLAS can read in place: rows `stride` elements apart, or columns if transposed.
template <typename T>
struct Matrix {
  const T* data;
  std::int64_t stride;
  bool transposed;
};

// One product of a batch: c [m, n] row-major = alpha a [m, k] b [k, n] + beta c. With beta 0, what was in c does not
// matter.
template <typename T>
struct Product {
  std::int64_t m, n, k;
  Matrix<T> a, b;
  T* c;
  std::int64_t c_stride;
  T alpha = 1, beta = 0;
};

// T: float, double, or an integer, whose operands are never transposed.
template <typename T>
void multiply(const Product<T>& product);

// Whose kernel: of those that have one for T.
enum class Library { openblas, onednn };
inline constexpr std::string_view kLibraryNames[] = {"openblas", "onednn"};

// On the calling thread alone.
template <typename T>
void multiply_here(const Product<T>& product, Library library = Library::openblas);

// The library for `batch` products like this one side by side, each on one thread; `run` computes them all with it.
template <typename T>
Library library_for_batch(const Product<T>& product, std::int64_t batch, const std::function<void(Library)>& run);

}  // namespace burn::backends::cpu
