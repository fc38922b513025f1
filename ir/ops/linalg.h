// Factorisations of matrices and systems of equations. Operands are batches of matrices in their last two dims, f32 or
// f64. Their shape rules are in the .cc file.
//
// Results that are not unique are normalised if that is cheap (the signs of Qr), and otherwise depend on the device
// (the signs of Svd and Eigh). A matrix without a result is an error of the run.
#pragma once

#include <string_view>
#include <tuple>

#include "ir/ops/op_traits.h"

namespace burn::ir {

// L with x = L L^T, lower triangular, zeros above. Only the lower triangle of x is read. If x is not positive definite:
// an error of the run.
struct Cholesky {
  static constexpr std::string_view kName = "cholesky";
  static constexpr std::string_view kSignature = "[..., n, n] -> [..., n, n]";
  static constexpr auto kAttrs = std::tuple{};
};

// Partial pivoting: x[permutation[i]] = (L U)[i], row by row. The first result has U on and above the diagonal and L,
// without its diagonal of ones, below; then the permutation, and its sign, 1 or -1. A pivot may be 0.
struct Lu {
  static constexpr int kResults = 3;
  static constexpr std::string_view kName = "lu";
  static constexpr std::string_view kSignature = "[..., n, m] -> [..., n, m], i64[..., n], [...]";
  static constexpr auto kAttrs = std::tuple{};
};

// x = Q R, Q with orthonormal columns, R upper triangular with a diagonal that is not negative. With `reduced`, k =
// min(n, m), else k = n.
struct Qr {
  bool reduced = true;
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "qr";
  static constexpr std::string_view kSignature = "[..., n, m] -> [..., n, k], [..., k, m]";
  static constexpr auto kAttrs = std::tuple{Attr{"reduced", &Qr::reduced}};
};

// x = U diag(S) V^T, k = min(n, m); the singular values S descend. Results: U, S, V^T. If x has NaN or infinity, all
// results are NaN.
struct Svd {
  static constexpr int kResults = 3;
  static constexpr std::string_view kName = "svd";
  static constexpr std::string_view kSignature = "[..., n, m] -> [..., n, k], [..., k], [..., k, m]";
  static constexpr auto kAttrs = std::tuple{};
};

// Eigenvalues, ascending, and eigenvectors, as columns, of a symmetric matrix, of which only the lower triangle is
// read. If it has NaN or infinity, both results are NaN.
struct Eigh {
  static constexpr int kResults = 2;
  static constexpr std::string_view kName = "eigh";
  static constexpr std::string_view kSignature = "[..., n, n] -> [..., n], [..., n, n]";
  static constexpr auto kAttrs = std::tuple{};
};

// X with A X = B. Batch dims are equal (Expand first). A pivot of 0: an error of the run.
struct Solve {
  static constexpr std::string_view kName = "solve";
  static constexpr std::string_view kSignature = "[..., n, n], [..., n, k] -> [..., n, k]";
  static constexpr auto kAttrs = std::tuple{};
};

// The same with the lower (or upper) triangle of A; the other triangle is not read. With `unit` the diagonal is not
// read either, but taken as 1. Division by 0 follows IEEE 754.
struct SolveTriangular {
  bool lower = true;
  bool unit = false;
  static constexpr std::string_view kName = "solve_triangular";
  static constexpr std::string_view kSignature = "[..., n, n], [..., n, k] -> [..., n, k]";
  static constexpr auto kAttrs =
      std::tuple{Attr{"lower", &SolveTriangular::lower}, Attr{"unit", &SolveTriangular::unit}};
};

// The determinant; 1 for a matrix without elements.
struct Det {
  static constexpr std::string_view kName = "det";
  static constexpr std::string_view kSignature = "[..., n, n] -> [...]";
  static constexpr auto kAttrs = std::tuple{};
};

#define BURN_LINALG_OPS(OP) OP(Cholesky) OP(Lu) OP(Qr) OP(Svd) OP(Eigh) OP(Solve) OP(SolveTriangular) OP(Det)

}  // namespace burn::ir
