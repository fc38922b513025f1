// Dense matrix products on several threads: OpenBLAS for f32 and f64, plain loops for the rest.
//
// OpenBLAS is only called for one thread's part of a product: its own threading serialises products of different
// callers.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

// A matrix that BLAS can read in place: rows `stride` elements apart, or columns if transposed.
template <typename T>
struct Matrix {
  const T* data;
  std::int64_t stride;
  bool transposed;
};

// One product of a batch: c [m, n] row-major = alpha a [m, k] b [k, n] + beta c. With beta 0, what was in c does not matter.
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

// On the calling thread alone.
template <typename T>
void multiply_here(const Product<T>& product);

}  // namespace burn::backends::cpu
