// slogdet, pinv, lstsq, matrix_power and matrix_exp: against definitions, numbers worked out by hand or in 50 digits,
// and gradients against differences.
#include <cmath>
#include <functional>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "client/tensor/linalg.h"
#include "tests/support/error_of.h"
#include "tests/support/present.h"
#include "tests/support/seeded.h"

namespace burn {
namespace {

using test::error_of;
using test::present;
using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

template <int D, Kind K>
std::vector<double> values(const Tensor<D, K>& x) {
  return x.template to_vec_as<double>();
}

const TensorOptions kDouble{"cpu", DType::f64};

template <int D>
Tensor<D> normal(const std::array<std::int64_t, D>& dims, DType dtype = DType::f64) {
  return Tensor<D>::random(Dims<D>(dims), Distribution::normal(0, 1), {"cpu", dtype});
}

template <int D>
void expect_near(const Tensor<D>& a, const Tensor<D>& b, double tolerance) {
  ASSERT_EQ(a.shape(), b.shape());
  ASSERT_EQ(a.dtype(), b.dtype());
  EXPECT_THAT(values(a), Pointwise(DoubleNear(tolerance), values(b)));
}

// Compares the gradient of sum(f(x) * w) with finite differences.
template <int D>
void expect_gradient(const Tensor<D>& at, const std::function<Tensor<D>(const Tensor<D>&)>& f,
                     double tolerance = 1e-6) {
  const auto weights = [&] {
    const auto y = f(at);
    return Tensor<D>{client::reshape(Tensor<1>::arange(1, 1 + y.num_elements(), kDouble).sin().value(), y.shape(), {})};
  }();
  const auto leaf = Tensor<D>::from_data(at.to_data(), Device{"cpu"}.autodiff()).require_grad();
  const auto tracked = Tensor<D>::from_data(weights.to_data(), Device{"cpu"}.autodiff());
  const auto gradient = values(present(leaf.grad((f(leaf) * tracked).sum().backward())));
  auto numbers = values(at);
  constexpr double kStep = 1e-6;
  const auto loss = [&] {
    return (f(Tensor<D>::from_data(TensorData(numbers, at.shape()), kDouble)) * weights).sum().item();
  };
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double x = numbers[i];
    numbers[i] = x + kStep;
    const double above = loss();
    numbers[i] = x - kStep;
    const double below = loss();
    numbers[i] = x;
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), tolerance) << "element " << i;
  }
}

// --- slogdet
// -----------------------------------------------------------------------------------------------------------

TEST(Slogdet, IsTheDeterminantsSignAndLogarithm) {
  for (const auto dtype : {DType::f64, DType::f32}) {
    for (const std::int64_t n : {1, 2, 3, 6}) {
      const auto x = normal<4>({3, 4, n, n}, dtype);
      const auto [sign, logarithm] = linalg::slogdet(x);
      expect_near(sign * logarithm.exp(), linalg::det(x), dtype == DType::f64 ? 1e-10 : 1e-3);
    }
  }
}

TEST(Slogdet, OfMatricesWhoseDeterminantIsNoNumber) {
  const auto [sign, logarithm] = linalg::slogdet(Tensor<2>::eye(200, kDouble) * -1e10);
  EXPECT_EQ(sign.item(), 1);
  EXPECT_NEAR(logarithm.item(), 200 * std::log(1e10), 1e-9);
  const auto [zero, none] = linalg::slogdet(Tensor<2>::ones({2, 2}, "cpu"));
  EXPECT_EQ(zero.item(), 0);
  EXPECT_EQ(none.item(), -INFINITY);
}

TEST(Slogdet, ItsSignCountsTheSwapsOfRows) {
  const auto cycle = Tensor<2>::from_data({{0, 2, 0}, {0, 0, 3}, {4, 0, 0}}, "cpu");  // an even permutation of rows
  EXPECT_EQ(linalg::slogdet(cycle).first.item(), 1);
  EXPECT_EQ(linalg::slogdet(cycle.flip({0})).first.item(), -1);
}

TEST(Slogdet, ItsGradientIsTheInverse) {
  const auto x = Tensor<3>::from_data(normal<3>({2, 3, 3}).to_data(), Device{"cpu"}.autodiff()).require_grad();
  const auto gradient = present(x.grad(linalg::slogdet(x).second.sum().backward()));
  expect_near(gradient, linalg::inverse(x.inner()).transpose(), 1e-9);
}

// --- pinv
// --------------------------------------------------------------------------------------------------------------

TEST(Pinv, HasThePropertiesThatDefineIt) {
  for (const auto dtype : {DType::f64, DType::f32}) {
    for (const auto& [n, m] : {std::pair{3, 3}, {5, 2}, {2, 5}, {1, 4}}) {
      const auto x = normal<3>({2, n, m}, dtype);
      const auto p = linalg::pinv(x);
      const double near = dtype == DType::f64 ? 1e-9 : 1e-3;
      expect_near(x.matmul(p).matmul(x), x, near);
      expect_near(p.matmul(x).matmul(p), p, near * 10);
      expect_near(x.matmul(p).transpose(), x.matmul(p), near);
      expect_near(p.matmul(x).transpose(), p.matmul(x), near);
    }
  }
}

TEST(Pinv, OfMatricesWithoutFullRank) {
  const auto x = Tensor<2>::from_data({{1, 2}, {2, 4}, {3, 6}}, kDouble);                           // (1 2 3)^T (1 2)
  EXPECT_THAT(values(linalg::pinv(x)), Pointwise(DoubleNear(1e-14), {1 / 70.0, 2 / 70.0, 3 / 70.0,  //
                                                                     2 / 70.0, 4 / 70.0, 6 / 70.0}));
  EXPECT_THAT(values(linalg::pinv(Tensor<2>::zeros({2, 3}, "cpu"))), Each(0));
  EXPECT_EQ(linalg::pinv(Tensor<2>::zeros({0, 3}, "cpu")).shape(), (ir::Shape{3, 0}));
}

TEST(Pinv, ToleratesWhatItIsTold) {
  const auto x = Tensor<2>::from_data({{4, 0}, {0, 0.5}}, kDouble);
  EXPECT_THAT(values(linalg::pinv(x)), ElementsAre(0.25, 0, 0, 2));
  EXPECT_THAT(values(linalg::pinv(x, {.rtol = 0.2})), ElementsAre(0.25, 0, 0, 0));
  EXPECT_THAT(values(linalg::pinv(x, {.rtol = std::nullopt, .atol = 1})), ElementsAre(0.25, 0, 0, 0));
}

TEST(Pinv, ItsGradientHoldsWhereSingularValuesAreEqualAndAreFew) {
  const auto pinv = [](const Tensor<2>& x) { return linalg::pinv(x); };
  expect_gradient<2>(normal<2>({4, 2}), pinv, 1e-5);
  expect_gradient<2>(normal<2>({2, 4}), pinv, 1e-5);
  expect_gradient<2>(Tensor<2>::eye(3, kDouble), pinv);
  // x x^T has rank 1 whatever x is.
  expect_gradient<2>(
      normal<2>({3, 1}), [](const Tensor<2>& x) { return linalg::pinv(x.matmul(x.transpose())); }, 1e-4);
}

TEST(Pinv, HasASecondDerivative) {  // the second derivative of 1 / x is 2 / x^3
  const auto x = Tensor<2>::from_data({{2}}, {Device{"cpu"}.autodiff(), DType::f64}).require_grad();
  const auto first = linalg::pinv(x).sum().backward({.create_graph = true});
  const auto slope = Tensor<2>{present(first.get(x.value()))};
  EXPECT_NEAR(slope.sum().item(), -0.25, 1e-14);
  EXPECT_NEAR(present(x.grad(slope.sum().backward())).item(), 0.25, 1e-14);
}

// --- lstsq
// -------------------------------------------------------------------------------------------------------------

TEST(Lstsq, FitsALine) {
  const auto a = Tensor<2>::from_data({{1, 0}, {1, 1}, {1, 2}, {1, 3}}, kDouble);
  const auto b = Tensor<2>::from_data({{1}, {2}, {4}, {4}}, kDouble);
  for (const auto driver : {linalg::LstsqDriver::gels, linalg::LstsqDriver::gelsd}) {
    const auto fit = linalg::lstsq(a, b, {.driver = driver});
    EXPECT_THAT(values(fit.solution), Pointwise(DoubleNear(1e-13), {1.1, 1.1}));
    EXPECT_THAT(values(fit.residuals), ElementsAre(DoubleNear(0.7, 1e-13)));
  }
}

TEST(Lstsq, IsThePseudoInverseTimesB) {
  for (const auto dtype : {DType::f64, DType::f32}) {
    for (const auto& [n, m] : {std::pair{3, 3}, {6, 2}, {2, 6}}) {
      const auto a = normal<3>({4, n, m}, dtype), b = normal<3>({1, n, 5}, dtype);
      const auto by_qr = linalg::lstsq(a, b), by_svd = linalg::lstsq(a, b, {.driver = linalg::LstsqDriver::gelsd});
      expect_near(by_qr.solution, linalg::pinv(a).matmul(b), dtype == DType::f64 ? 1e-9 : 1e-2);
      expect_near(by_qr.solution, by_svd.solution, dtype == DType::f64 ? 1e-9 : 1e-2);
      EXPECT_EQ(by_qr.residuals.shape(), (ir::Shape{4, 5}));
    }
  }
}

TEST(Lstsq, ItsGradients) {
  const auto b = normal<2>({4, 2}), few = normal<2>({2, 2});
  expect_gradient<2>(
      normal<2>({4, 2}),
      [&](const Tensor<2>& a) { return linalg::lstsq(a, Tensor<2>::from_data(b.to_data(), a.device())).solution; },
      1e-4);
  expect_gradient<2>(
      normal<2>({2, 4}),
      [&](const Tensor<2>& a) { return linalg::lstsq(a, Tensor<2>::from_data(few.to_data(), a.device())).solution; },
      1e-4);
}

TEST(Lstsq, WithoutFullRankIsAnErrorByQrAndTheShortestSolutionBySingularValues) {
  for (const auto dtype : {DType::f64, DType::f32}) {
    const auto a = Tensor<2>::from_data({{1, 2}, {2, 4}, {3, 6}}, {"cpu", dtype});
    const auto b = Tensor<2>::from_data({{1}, {2}, {3}}, {"cpu", dtype});
    EXPECT_THAT(error_of([&] { linalg::lstsq(a, b).solution.to_data(); }),
                AllOf(HasSubstr("singular"), HasSubstr("matrix_functions_test.cc")));
    EXPECT_THAT(error_of([&] { linalg::lstsq(a.transpose(), b.slice({s(0, 2)})).solution.to_data(); }),
                HasSubstr("singular"));
    EXPECT_THAT(values(linalg::lstsq(a, b, {.driver = linalg::LstsqDriver::gelsd}).solution),
                ElementsAre(DoubleNear(0.2, 1e-6), DoubleNear(0.4, 1e-6)));
  }
}

// --- powers
// ------------------------------------------------------------------------------------------------------------

TEST(MatrixPower, MultipliesAsOften) {
  const auto x = normal<3>({2, 3, 3});
  expect_near(linalg::matrix_power(x, 0), (x * 0) + Tensor<2>::eye(3, kDouble).unsqueeze<3>(), 0);
  expect_near(linalg::matrix_power(x, 1), x, 0);
  auto product = x;
  for (int n = 2; n < 12; ++n) {
    product = product.matmul(x);
    expect_near(linalg::matrix_power(x, n), product, 1e-9 * product.abs().max().item());
  }
  expect_near(linalg::matrix_power(x, -2).matmul(x).matmul(x), linalg::matrix_power(x, 0), 1e-8);
  // Fibonacci's numbers.
  const auto f = linalg::matrix_power(Tensor<2>::from_data({{1, 1}, {1, 0}}, kDouble), 70);
  EXPECT_EQ(f[0][1].item(), 190392490709135);
}

TEST(MatrixPower, ItsGradients) {
  for (const std::int64_t n : {3, -2})
    expect_gradient<2>(
        normal<2>({3, 3}) + Tensor<2>::eye(3, kDouble) * 4,
        [&](const Tensor<2>& x) { return linalg::matrix_power(x, n); }, 1e-4);
}

TEST(MatrixExp, OfADiagonalIsThatOfItsNumbers) {
  const auto x = Tensor<2>::from_data({{1, 0, 0}, {0, -30, 0}, {0, 0, 12.5}}, kDouble);
  const auto y = values(linalg::matrix_exp(x));
  EXPECT_NEAR(y[0], std::exp(1.0), 1e-13);
  EXPECT_NEAR(y[4] / std::exp(-30.0), 1, 1e-12);
  EXPECT_NEAR(y[8] / std::exp(12.5), 1, 1e-13);
  EXPECT_EQ(y[1], 0);
}

TEST(MatrixExp, OfARotationIsItsCosineAndSine) {
  for (const double angle : {0.0, 1e-8, 0.3, 2.0, 30.0, 1000.0}) {
    const auto x = Tensor<2>::from_data({{0, -angle}, {angle, 0}}, kDouble);
    const double near = 3e-15 * (angle + 10);
    EXPECT_THAT(values(linalg::matrix_exp(x)),
                ElementsAre(DoubleNear(std::cos(angle), near), DoubleNear(-std::sin(angle), near),
                            DoubleNear(std::sin(angle), near), DoubleNear(std::cos(angle), near)))
        << angle;
    EXPECT_NEAR(linalg::matrix_exp(x.cast(DType::f32))[0][0].item(), std::cos(angle), 1e-6 * (angle + 10));
  }
}

TEST(MatrixExp, OfATriangleWithEqualNumbers) {  // exp(t) (1, t; 0, 1) has no basis of eigenvectors
  const auto y = values(linalg::matrix_exp(Tensor<2>::from_data({{3, 1}, {0, 3}}, kDouble)));
  EXPECT_THAT(y, ElementsAre(DoubleNear(std::exp(3), 1e-12), DoubleNear(std::exp(3), 1e-12), 0,
                             DoubleNear(std::exp(3), 1e-12)));
}

TEST(MatrixExp, EachMatrixOfABatchIsScaledForItself) {
  const auto small = normal<2>({4, 4}) * 1e-3, large = normal<2>({4, 4}) * 5;
  const auto both = linalg::matrix_exp(Tensor<2>::stack({small, large}, 0));
  expect_near(both.select_dim(0, 0), linalg::matrix_exp(small), 1e-15);
  expect_near(both.select_dim(0, 1), linalg::matrix_exp(large), 1e-9 * both.abs().max().item());
  expect_near(linalg::matrix_exp(small).matmul(linalg::matrix_exp(-small)), Tensor<2>::eye(4, kDouble), 1e-14);
}

TEST(MatrixExp, ItsGradients) {
  expect_gradient<2>(
      normal<2>({3, 3}), [](const Tensor<2>& x) { return linalg::matrix_exp(x); }, 1e-5);
  expect_gradient<2>(
      normal<2>({2, 2}) * 4, [](const Tensor<2>& x) { return linalg::matrix_exp(x * 0.5); }, 1e-3);
}

TEST(MatrixExp, IsNoNumberWhereItCannotTell) {
  EXPECT_THAT(values(linalg::matrix_exp(Tensor<2>::from_data({{NAN, 0}, {0, 1}}, "cpu")).is_nan().to_int()), Each(1));
  EXPECT_THAT(values(linalg::matrix_exp(Tensor<2>::from_data({{-1e9, 0}, {0, 1}}, "cpu")).is_nan().to_int()), Each(1));
}

TEST(MatrixFunctions, OfWhatIsNoNumberAreNoNumber) {
  const auto nan = Tensor<2>::full({2, 2}, NAN, kDouble), b = Tensor<2>::ones({2, 1}, kDouble);
  const auto all_nan = [](const Tensor<2>& x) { return x.is_nan().all().item(); };
  EXPECT_TRUE(all_nan(linalg::pinv(nan)));
  EXPECT_TRUE(all_nan(linalg::lstsq(nan, b).solution));
  EXPECT_TRUE(all_nan(linalg::lstsq(nan, b, {.driver = linalg::LstsqDriver::gelsd}).solution));
  EXPECT_TRUE(all_nan(linalg::matrix_power(nan, 2)));
  EXPECT_TRUE(all_nan(linalg::matrix_exp(nan)));
  EXPECT_TRUE(std::isnan(linalg::slogdet(nan).second.item()));
}

TEST(MatrixFunctions, SixteenBitFloatsAreComputedInF32) {
  const auto x = Tensor<2>::from_data({{2, 1}, {1, 3}}, {"cpu", DType::bf16});
  EXPECT_EQ(linalg::pinv(x).dtype(), DType::bf16);
  EXPECT_EQ(linalg::matrix_exp(x).dtype(), DType::bf16);
  EXPECT_NEAR(linalg::slogdet(x).second.item(), std::log(5), 1e-2);
}

TEST(MatrixFunctions, ErrorsNameTheCallAndTheShape) {
  const auto x = Tensor<2>::ones({2, 3}, "cpu");
  const auto bad = [](const char* op) {
    return AllOf(HasSubstr(op), HasSubstr("f32[2, 3]"), HasSubstr("matrix_functions_test.cc"));
  };
  EXPECT_THAT(error_of([&] { linalg::slogdet(x); }), bad("slogdet"));
  EXPECT_THAT(error_of([&] { linalg::matrix_power(x, 2); }), bad("matrix_power"));
  EXPECT_THAT(error_of([&] { linalg::matrix_exp(x); }), bad("matrix_exp"));
  EXPECT_THAT(error_of([&] { linalg::lstsq(x, Tensor<2>::ones({3, 1}, "cpu")); }), bad("lstsq"));
  EXPECT_THAT(error_of([&] {
                linalg::matrix_power(Tensor<2>::zeros({2, 2}, "cpu"), -1).to_data();
              }),
              HasSubstr("singular"));
}

}  // namespace
}  // namespace burn
