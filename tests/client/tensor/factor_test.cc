// Factorisations and systems of equations on the CPU backend, through the tensors' own functions.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "client/tensor/linalg.h"
#include "tests/support/seeded.h"

namespace burn {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Device& device() {
  static const Device cpu{"cpu"};
  return cpu;
}

template <int D>
auto values(const Tensor<D>& x) {
  return x.to_data().template to_vec_as<double>();
}

template <int D>
Tensor<D> random(const std::array<std::int64_t, D>& dims, DType dtype = DType::f64) {
  return Tensor<D>::random(Dims<D>(dims), Distribution::normal(0, 1), {device(), dtype});
}

template <int D>
void expect_near(const Tensor<D>& a, const Tensor<D>& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  ASSERT_EQ(a.dtype(), b.dtype());
  const auto x = values(a), y = values(b);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(x[i], y[i], tolerance) << i;
}

// u diag(s), for each matrix of a batch
template <int D>
Tensor<D> times_diagonal(const Tensor<D>& u, const Tensor<D - 1>& s) {
  return u * s.template unsqueeze_dim<D>(D - 2);
}

double tolerance_of(DType dtype) {
  return dtype == DType::f64 ? 1e-10 : dtype == DType::f32 ? 1e-4 : dtype == DType::f16 ? 2e-2 : 2e-1;
}

TEST(Factor, PartsMultiplyToTheMatrix) {
  for (const auto dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
    for (const auto& [n, m] : {std::pair{4, 4}, {6, 3}, {3, 6}, {1, 1}, {1, 5}, {70, 40}}) {
      const auto x = random<3>({2, n, m}, dtype);
      const auto near = tolerance_of(dtype) * (n + m);
      const auto [p, l, u] = linalg::lu(x);
      expect_near(p.matmul(l).matmul(u), x, near);
      const auto [q, r] = linalg::qr(x);
      expect_near(q.matmul(r), x, near);
      const auto [full_q, full_r] = linalg::qr(x, false);
      EXPECT_EQ(full_q.shape(), (ir::Shape{2, n, n}));
      expect_near(full_q.matmul(full_r), x, near);
      const auto [left, s, right] = linalg::svd(x);
      expect_near(times_diagonal(left, s).matmul(right), x, near);
      expect_near(linalg::svdvals(x), s, near);
      const auto square = x.matmul(x.transpose());
      const auto [eigenvalues, vectors] = linalg::eigh(square);
      expect_near(times_diagonal(vectors, eigenvalues).matmul(vectors.transpose()), square, near * (n + m));
    }
  }
}

TEST(Factor, EveryRankAndViewsOfOthers) {
  const auto x = random<6>({1, 2, 1, 2, 3, 3});
  const auto [p, l, u] = linalg::lu(x);
  expect_near(p.matmul(l).matmul(u), x, 1e-10);
  expect_near(linalg::inverse(linalg::inverse(x)), x, 1e-8);
  const auto turned = random<3>({3, 3, 2}).permute({2, 1, 0});  // columns, rows, batch
  const auto [q, r] = linalg::qr(turned);
  expect_near(q.matmul(r), turned, 1e-10);
  EXPECT_EQ(linalg::det(x).shape(), (ir::Shape{1, 2, 1, 2}));
}

TEST(Factor, CholeskyReadsTheLowerTriangle) {
  const auto x = Tensor<2>::from_data({{4, 100}, {2, 5}}, device());
  EXPECT_THAT(values(linalg::cholesky(x)), ElementsAre(2, 0, 1, 2));
}

TEST(Factor, PackedLuSaysWhereRowsComeFrom) {
  const auto x = Tensor<2>::from_data({{0, 2}, {4, 8}}, device());
  const auto [lu, permutation] = linalg::lu_decomposition(x);
  EXPECT_THAT(values(lu), ElementsAre(4, 8, 0, 2));
  EXPECT_THAT(permutation.to_data().to_vec<std::int64_t>(), ElementsAre(1, 0));
}

TEST(Factor, QrHasADiagonalThatIsNotNegative) {
  const auto [q, r] = linalg::qr(random<3>({5, 4, 4}));
  for (const auto d : values(linalg::diag(r))) EXPECT_GE(d, 0);
}

TEST(Factor, Determinants) {
  EXPECT_THAT(values(linalg::det(Tensor<2>::from_data({{1, 2}, {3, 4}}, device()))), ElementsAre(DoubleNear(-2, 1e-6)));
  EXPECT_THAT(values(linalg::det(Tensor<2>::from_data({{1, 2}, {2, 4}}, device()))), ElementsAre(0));
  EXPECT_THAT(values(linalg::det(Tensor<3>::zeros({2, 0, 0}, device()))), ElementsAre(1, 1));
  EXPECT_TRUE(values(linalg::det(Tensor<3>::zeros({0, 3, 3}, device()))).empty());
  const auto nan = std::nanf("");
  EXPECT_TRUE(std::isnan(values(linalg::det(Tensor<2>::from_data({{1, nan}, {2, 4}}, device())))[0]));
}

TEST(Factor, SolvesWithBatchesThatBroadcast) {
  const auto a = random<3>({3, 4, 4}), b = random<3>({1, 4, 2});
  expect_near(a.matmul(linalg::solve(a, b)), b.expand<3>({3, 4, 2}), 1e-9);
  const auto one = random<3>({1, 4, 4}), many = random<3>({3, 4, 2});
  expect_near(one.expand<3>({3, 4, 4}).matmul(linalg::solve(one, many)), many, 1e-9);
  expect_near(a.matmul(linalg::inverse(a)), Tensor<2>::eye(4, {device(), DType::f64}).expand<3>({3, 4, 4}), 1e-9);
}

TEST(Factor, TriangularSystems) {
  const auto a = Tensor<2>::from_data({{2, 9}, {1, 4}}, device()), b = Tensor<2>::from_data({{2}, {8}}, device());
  EXPECT_THAT(values(linalg::solve_triangular(a, b, false)), ElementsAre(1, 1.75));
  EXPECT_THAT(values(linalg::solve_triangular(a, b, true)), ElementsAre(-8, 2));
  EXPECT_THAT(values(linalg::solve_triangular(a, b, false, true)), ElementsAre(2, 6));
}

TEST(Factor, EmptyMatrices) {
  const auto wide = Tensor<2>::zeros({0, 3}, device()), tall = Tensor<2>::zeros({3, 0}, device());
  EXPECT_EQ(std::get<0>(linalg::svd(wide)).shape(), (ir::Shape{0, 0}));
  EXPECT_EQ(linalg::qr(tall, false).first.shape(), (ir::Shape{3, 3}));
  EXPECT_THAT(values(linalg::qr(tall, false).first), ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1));
  EXPECT_THAT(values(std::get<0>(linalg::lu(tall))), ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1));
  EXPECT_EQ(linalg::solve(Tensor<2>::zeros({0, 0}, device()), wide).shape(), (ir::Shape{0, 3}));
  EXPECT_EQ(linalg::eigh(Tensor<3>::zeros({0, 2, 2}, device())).first.shape(), (ir::Shape{0, 2}));
  EXPECT_EQ(linalg::cholesky(Tensor<2>::zeros({0, 0}, device())).shape(), (ir::Shape{0, 0}));
}

TEST(Factor, MatricesThatAreNotFiniteHaveNanForAnswers) {
  const auto x = Tensor<3>::from_data({{{1, std::nanf("")}, {0, 1}}, {{2, 0}, {0, 1}}}, device());
  const auto s = values(linalg::svdvals(x));
  EXPECT_TRUE(std::isnan(s[0]) && std::isnan(s[1]));
  EXPECT_EQ(s[2], 2);
  EXPECT_EQ(s[3], 1);
}

std::string message_of(const auto& body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// The error is found on the worker and reported by the next read, with the op and its line; other results are not lost.
TEST(FactorErrors, ASingularMatrixIsReportedByTheNextRead) {
  const auto x = Tensor<3>::from_data({{{1, 2}, {3, 4}}, {{1, 2}, {2, 4}}}, device());
  const int line = __LINE__ + 1;
  const auto y = linalg::solve(x, x);
  const auto other = x * 2;
  const auto message = message_of([&] { y.to_data(); });
  EXPECT_THAT(message, HasSubstr("solve: matrix 1 of the batch of 2 (2 x 2) is singular: pivot 1 is 0"));
  EXPECT_THAT(message, HasSubstr("factor_test.cc:" + std::to_string(line)));
  EXPECT_EQ(values(other)[0], 2);
  const auto inverse = linalg::inverse(Tensor<2>::zeros({3, 3}, device()));
  EXPECT_THAT(message_of([&] { inverse.to_data(); }), HasSubstr("the matrix (3 x 3) is singular: pivot 0 is 0"));
}

TEST(FactorErrors, WhatIsNotPositiveDefiniteIsReported) {
  const auto y = linalg::cholesky(Tensor<2>::from_data({{1, 2}, {2, 1}}, device()));
  EXPECT_THAT(message_of([&] { y.to_data(); }),
              HasSubstr("cholesky: the matrix (2 x 2) is not positive definite: its leading minor of order 2"));
}

TEST(FactorErrors, ShapesThatDoNotFitAreNamedAtTheCall) {
  const auto wide = Tensor<2>::ones({2, 3}, device()), square = Tensor<2>::ones({2, 2}, device());
  EXPECT_THAT(message_of([&] { linalg::det(wide); }), HasSubstr("det: takes square matrices, got f32[2, 3] (at "));
  EXPECT_THAT(message_of([&] { linalg::inverse(wide); }), HasSubstr("inverse: takes square matrices"));
  EXPECT_THAT(message_of([&] { linalg::cholesky(wide); }), HasSubstr("cholesky: takes square matrices"));
  EXPECT_THAT(message_of([&] { linalg::eigh(wide); }), HasSubstr("eigh: takes square matrices"));
  EXPECT_THAT(message_of([&] {
                linalg::solve(square, Tensor<2>::ones({3, 1}, device()));
              }),
              HasSubstr("solve: right-hand sides f32[3, 1] do not fit matrices f32[2, 2]"));
}

}  // namespace
}  // namespace burn
