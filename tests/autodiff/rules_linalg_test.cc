// Gradients of factorisations, systems of equations and Fourier transforms, against differences.
#include <cmath>
#include <functional>
#include <random>

#include "client/ops/factor.h"
#include "client/ops/gradients.h"
#include "client/ops/signal.h"
#include "tests/autodiff/finite_differences.h"

namespace burn {
namespace {

using client::Value;
using Values = std::vector<Value>;
using Fn = ir::PointwiseFn;
using ir::DType;

const ir::CallSite kSite{"rules_linalg_test", 1};

Value t(const Value& x) { return client::swap_dims(x, -2, -1, kSite); }
Value mm(const Value& a, const Value& b) { return client::matmul(a, b, kSite); }
Value add(const Value& a, const Value& b) { return client::pointwise(Fn::add, a, b, kSite); }

// x x^T + I: symmetric, positive definite.
Value positive_definite(const Value& x) {
  const Value square = mm(x, t(x));
  const Value rows = client::arange(client::place_of(x), 0, x.dim(-2), 1, DType::i64, kSite);
  ir::Shape column = ir::Shape::filled(x.rank(), 1), row = column;
  column[x.rank() - 2] = row[x.rank() - 1] = x.dim(-2);
  const Value identity =
      client::pointwise(Fn::equal, client::reshape(rows, column, kSite), client::reshape(rows, row, kSite), kSite);
  return add(square, client::cast(identity, x.dtype(), kSite));
}

// Concatenates all results of a function, so that each of them contributes to the gradient.
Value concatenated(std::vector<Value> parts) {
  for (auto& part : parts) part = client::reshape(part, {part.type().num_elements()}, kSite);
  return client::concat(parts, 0, kSite);
}

// The gradient of sum(f(x)^2) with respect to x, as a function that can itself be differentiated; x may be untracked.
test::Function gradient_of(std::function<Value(const Value&)> f) {
  return [f = std::move(f)](const Values& x) {
    const bool is_tracked = x[0].is_tracked();
    const Value leaf = is_tracked ? x[0] : client::require_grad(x[0].from_inner());
    const Value y = f(leaf);
    const Value loss = client::reduce_all(ir::ReduceFn::sum, client::pointwise(Fn::mul, y, y, kSite), kSite);
    const Value g = *client::backward(loss, {.create_graph = is_tracked}, kSite).get(leaf);
    return is_tracked ? g : g.inner();
  };
}

// Random numbers in [-1, 1], as rows of evenly spread ones are almost dependent. The same on every machine.
TensorData scattered(const ir::Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> numbers(static_cast<std::size_t>(ir::num_elements(shape)));
  for (auto& x : numbers) x = 2 * static_cast<double>(random() >> 11) / 9007199254740992.0 - 1;
  return {std::move(numbers), shape};
}

const TensorData kSquare = scattered({2, 3, 3}, 1), kTall = scattered({2, 4, 3}, 2), kWide = scattered({2, 3, 4}, 3);
constexpr double kLoose = 1e-5;  // tolerance of second derivatives and of some first ones

TEST(LinalgRules, Cholesky) {
  const auto f = [](const Value& x) { return client::cholesky(positive_definite(x), kSite); };
  test::expect_gradients([&](const Values& x) { return f(x[0]); }, {kSquare});
  test::expect_gradients(gradient_of(f), {kSquare}, kLoose);
}

TEST(LinalgRules, Lu) {
  const auto f = [](const Value& x) {
    const auto parts = client::lu(x, kSite);
    return concatenated({parts.l, parts.u});
  };
  for (const auto& x : {kSquare, kTall, kWide}) {
    test::expect_gradients([&](const Values& v) { return f(v[0]); }, {x});
    test::expect_gradients(gradient_of(f), {x}, 1e-4);
  }
}

TEST(LinalgRules, Qr) {
  const auto f = [](bool reduced) {
    return [reduced](const Value& x) {
      const auto parts = client::qr(x, reduced, kSite);
      return concatenated({parts.q, parts.r});
    };
  };
  for (const auto& x : {kSquare, kTall, kWide}) {
    test::expect_gradients([&](const Values& v) { return f(true)(v[0]); }, {x});
    test::expect_gradients(gradient_of(f(true)), {x}, 1e-4);
  }
  for (const auto& x : {kSquare, kWide}) test::expect_gradients([&](const Values& v) { return f(false)(v[0]); }, {x});
}

TEST(LinalgRules, TheFullQOfATallMatrixHasNoGradientAndSaysSo) {
  const Device ad = Device{"cpu"}.autodiff();
  const Value x = client::require_grad(test::value_of(kTall, ad));
  const Value loss = client::reduce_all(ir::ReduceFn::sum, client::qr(x, false, kSite).q, kSite);
  try {
    client::backward(loss, {}, kSite);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("qr: the full Q of f64[2, 4, 3]"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("rules_linalg_test:1"), std::string::npos) << error.what();
  }
}

// Tests functions of U and V^T that do not depend on the signs of the singular vectors.
TEST(LinalgRules, Svd) {
  const auto invariant = [](const Value& x) {
    const auto parts = client::svd(x, kSite);
    const Value squares = client::pointwise(Fn::mul, parts.u, parts.u, kSite);
    const Value right = client::pointwise(Fn::mul, parts.vt, parts.vt, kSite);
    return concatenated({squares, parts.s, right, mm(parts.u, parts.vt)});
  };
  for (const auto& x : {kSquare, kTall, kWide}) {
    test::expect_gradients([&](const Values& v) { return client::svd(v[0], kSite).s; }, {x});
    test::expect_gradients([&](const Values& v) { return invariant(v[0]); }, {x}, kLoose);
    test::expect_gradients(gradient_of([](const Value& v) { return client::svd(v, kSite).s; }), {x}, 1e-4);
  }
}

TEST(LinalgRules, SingularValuesThatAreEqualOrZeroHaveAFiniteGradient) {
  const Device ad = Device{"cpu"}.autodiff();
  for (const double size : {1.0, 0.0}) {
    const Value x =
        client::require_grad(test::value_of(TensorData(std::vector<double>{size, 0, 0, size, 0, 0}, {3, 2}), ad));
    const auto parts = client::svd(x, kSite);
    const Value y = concatenated({parts.u, parts.s, parts.vt});
    const auto gradient = client::backward(client::reduce_all(ir::ReduceFn::sum, y, kSite), {}, kSite).get(x);
    for (const double g : client::to_data(*gradient).to_vec<double>()) EXPECT_TRUE(std::isfinite(g)) << g;
  }
}

TEST(LinalgRules, Eigh) {
  const auto f = [](const Value& x) {
    const auto parts = client::eigh(positive_definite(x), kSite);
    return concatenated({parts.values, client::pointwise(Fn::mul, parts.vectors, parts.vectors, kSite)});
  };
  test::expect_gradients([&](const Values& x) { return f(x[0]); }, {kSquare}, kLoose);
  test::expect_gradients(gradient_of([](const Value& x) { return client::eigh(positive_definite(x), kSite).values; }),
                         {kSquare}, 1e-4);
}

TEST(LinalgRules, SolveAndInverse) {
  test::expect_gradients([](const Values& x) { return client::solve(x[0], x[1], kSite); },
                         {kSquare, test::spread({2, 3, 2}, -1, 1, 4)}, kLoose);
  test::expect_gradients([](const Values& x) { return client::solve(x[0], x[1], kSite); },
                         {kSquare, test::spread({1, 3, 2}, -1, 1, 4)}, kLoose);
  test::expect_gradients([](const Values& x) { return client::inverse(x[0], kSite); }, {kSquare}, kLoose);
  test::expect_gradients(gradient_of([](const Value& x) { return client::inverse(x, kSite); }), {scattered({2, 2}, 5)},
                         1e-4);
}

TEST(LinalgRules, SolveTriangular) {
  for (const bool lower : {true, false}) {
    for (const bool unit : {true, false}) {
      test::expect_gradients([&](const Values& x) { return client::solve_triangular(x[0], x[1], lower, unit, kSite); },
                             {test::spread({2, 3, 3}, 0.5, 1.5), test::spread({2, 3, 2}, -1, 1, 1)}, kLoose);
    }
  }
}

TEST(LinalgRules, Det) {
  const auto f = [](const Value& x) { return client::det(x, kSite); };
  test::expect_gradients([&](const Values& x) { return f(x[0]); }, {kSquare});
  test::expect_gradients(gradient_of(f), {kSquare}, kLoose);
  test::expect_gradients([&](const Values& x) { return f(x[0]); }, {test::spread({1, 1}, -1, 1)});
}

// The gradient is the matrix of cofactors, which exists for every rank.
TEST(LinalgRules, TheGradientOfADeterminantIsRightForSingularMatrices) {
  const auto f = [](const Values& x) { return client::det(x[0], kSite); };
  const std::vector<double> rank_two{1, 2, 3, 2, 4, 6, 1, 0, 5}, rank_one{1, 2, 3, 2, 4, 6, -1, -2, -3},
      shifts{0, 1, 0, 0, 0, 1, 0, 0, 0}, zero(9, 0.0);
  for (const auto& x : {rank_two, rank_one, shifts, zero}) {
    test::expect_gradients(f, {TensorData(x, {3, 3})}, 1e-6);
  }
  // In f32, where products of tiny numbers would underflow.
  const Device ad = Device{"cpu"}.autodiff();
  std::vector<float> shift(64, 0.f);
  for (std::size_t i = 0; i + 1 < 8; ++i) shift[i * 8 + i + 1] = 1;
  const Value x = client::require_grad(client::from_data(TensorData(shift, {8, 8}), {ad}, DType::f32));
  const auto gradient = client::backward(client::det(x, kSite), {}, kSite).get(x);
  const auto got = client::to_data(*gradient).to_vec<float>();
  for (std::size_t i = 0; i < 64; ++i) EXPECT_NEAR(got[i], i == 7 * 8 ? -1 : 0, 1e-5) << i;
}

TEST(LinalgRules, EmptyMatrices) {
  const Device ad = Device{"cpu"}.autodiff();
  const auto gradient = [&](const ir::Shape& shape, const std::function<Value(const Value&)>& f) {
    const Value x = client::require_grad(test::value_of(TensorData(std::vector<double>{}, shape), ad));
    return client::backward(client::reduce_all(ir::ReduceFn::sum, f(x), kSite), {}, kSite).get(x)->shape();
  };
  for (const auto& shape : {ir::Shape{0, 0}, ir::Shape{0, 3, 3}, ir::Shape{2, 0, 0}}) {
    EXPECT_EQ(gradient(shape, [](const Value& x) { return client::det(x, kSite); }), shape);
    EXPECT_EQ(gradient(shape, [](const Value& x) { return client::cholesky(x, kSite); }), shape);
    EXPECT_EQ(gradient(shape, [](const Value& x) { return client::inverse(x, kSite); }), shape);
    EXPECT_EQ(gradient(shape, [](const Value& x) { return client::lu(x, kSite).u; }), shape);
    EXPECT_EQ(gradient(shape, [](const Value& x) { return client::qr(x, true, kSite).r; }), shape);
    EXPECT_EQ(gradient(shape, [](const Value& x) { return client::svd(x, kSite).s; }), shape);
    EXPECT_EQ(gradient(shape, [](const Value& x) { return client::eigh(x, kSite).values; }), shape);
  }
}

TEST(FourierRules, TransformsOfEvenAndOddLengths) {
  const auto both = [](const client::Complex& y) { return concatenated({y.re, y.im}); };
  for (const std::int64_t n : {1, 2, 5, 6}) {
    const auto x = test::spread({2, n, 2}, -1, 1), y = test::spread({2, n, 2}, -1, 1, 1);
    test::expect_gradients([&](const Values& v) { return both(client::rfft(v[0], 1, {}, kSite)); }, {x});
    test::expect_gradients([&](const Values& v) { return both(client::cfft(v[0], v[1], 1, {}, kSite)); }, {x, y});
    test::expect_gradients([&](const Values& v) { return both(client::cfft(v[0], v[1], -2, 4, kSite)); }, {x, y});
    for (const std::int64_t length : {4, 7})
      test::expect_gradients([&](const Values& v) { return client::irfft(v[0], v[1], 1, length, kSite); }, {x, y});
    test::expect_gradients(gradient_of([&](const Value& v) {
                             const auto spectrum = client::rfft(v, 1, {}, kSite);
                             return client::pointwise(Fn::mul, spectrum.re, spectrum.re, kSite);
                           }),
                           {x}, kLoose);
  }
}

TEST(FourierRules, ShortTimeTransforms) {
  for (const bool center : {true, false}) {
    for (const bool onesided : {true, false}) {
      const client::StftShape shape{6, 2, 4, center, onesided};
      test::expect_gradients([&](const Values& v) { return client::stft(v[0], &v[1], shape, kSite); },
                             {test::spread({2, 11}, -1, 1), test::spread({4}, 0.5, 1)});
      const std::int64_t bins = onesided ? 4 : 6;
      test::expect_gradients(
          [&](const Values& v) {
            return client::istft(v[0], &v[1], {}, {6, 2, 6, center, onesided}, kSite);
          },
          {test::spread({1, 3, bins, 2}, -1, 1), test::spread({6}, 0.5, 1)}, kLoose);
    }
  }
}

}  // namespace
}  // namespace burn
