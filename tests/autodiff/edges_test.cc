// Gradients where a formula divides 0 by 0 or multiplies 0 by infinity: they are the same as PyTorch's, at such points
// and around them.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/ops/activation.h"
#include "client/ops/norms.h"
#include "tests/autodiff/finite_differences.h"

namespace burn {
namespace {

using client::Value;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::NanSensitiveDoubleNear;
using Fn = ir::PointwiseFn;
using Red = ir::ReduceFn;
using Numbers = std::vector<double>;
using Function = std::function<Value(const Value&)>;

constexpr double kInf = std::numeric_limits<double>::infinity();
const ir::CallSite kSite{};

Value leaf(const Numbers& numbers, ir::Shape shape = {}, DType dtype = DType::f64) {
  if (shape.rank() == 0) shape = {static_cast<std::int64_t>(numbers.size())};
  return client::require_grad(client::from_data(TensorData(numbers, shape), {Device{"cpu"}.autodiff(), dtype}, dtype));
}
Value sum(const Value& x) { return client::reduce_all(Red::sum, x, kSite); }
Numbers numbers_of(const Value& x) { return client::to_data(x).to_vec_as<double>(); }

// The gradient of sum(f(x)); empty if it does not depend on x.
Numbers gradient(const Function& f, const Value& x) {
  const auto found = client::backward(sum(f(x)), {}, kSite).get(x);
  return found ? numbers_of(*found) : Numbers{};
}
Numbers gradient(const Function& f, const Numbers& at) { return gradient(f, leaf(at)); }

// The gradient of the sum of the first gradient; zeros if that does not depend on x.
Numbers second_gradient(const Function& f, const Numbers& at) {
  const Value x = leaf(at);
  const auto first = client::backward(sum(f(x)), {.create_graph = true}, kSite).get(x);
  const auto second = first->is_tracked() ? client::backward(sum(*first), {}, kSite).get(x) : std::nullopt;
  return second ? numbers_of(*second) : Numbers(at.size(), 0.0);
}

Function power(double exponent) {
  return [=](const Value& x) { return client::pointwise(Fn::pow, x, exponent, kSite); };
}

TEST(PowerEdges, ToTheZeroIsFlatEverywhere) { EXPECT_THAT(gradient(power(0), Numbers{0, 2, -1, kInf, NAN}), Each(0)); }

TEST(PowerEdges, OfZeroHasTheSlopeOfTheExponent) {
  EXPECT_THAT(gradient(power(1), Numbers{0, 3}), ElementsAre(1, 1));
  EXPECT_THAT(gradient(power(2), Numbers{0, 3}), ElementsAre(0, 6));
  EXPECT_THAT(gradient(power(0.5), Numbers{0, 4}), ElementsAre(kInf, 0.25));
  EXPECT_THAT(second_gradient(power(0), {0, 3}), Each(0));
  EXPECT_THAT(second_gradient(power(1), {0, 3}), Each(0));
  EXPECT_THAT(second_gradient(power(2), {0, 3}), Each(2));
  EXPECT_THAT(second_gradient(power(3), {0, 3}), ElementsAre(0, 18));
}

TEST(PowerEdges, OfATensorToATensor) {
  const Value a = leaf({0, 0, 0, 0, 2, 2, -2}), b = leaf({0, 2, 0.5, -1, 0, 3, 0});
  const auto gradients = client::backward(sum(client::pointwise(Fn::pow, a, b, kSite)), {}, kSite);
  EXPECT_THAT(numbers_of(*gradients.get(a)), ElementsAre(0, 0, kInf, -kInf, 0, 12, 0));
  EXPECT_THAT(numbers_of(*gradients.get(b)),
              ElementsAre(0, 0, 0, -kInf, std::log(2), NanSensitiveDoubleNear(8 * std::log(2), 1e-14),
                          NanSensitiveDoubleNear(NAN, 0)));
}

TEST(PowerEdges, OfAScalarToATensor) {
  const auto to = [](double base) {
    return [=](const Value& b) { return client::pointwise(Fn::pow, base, b, kSite); };
  };
  EXPECT_THAT(gradient(to(0), Numbers{0, 1, 2.5}), Each(0));
  EXPECT_THAT(gradient(to(1), Numbers{0, 1, 2.5}), Each(0));
}

TEST(PowerEdges, TheMixedSecondGradientIsRightAtExponentZero) {  // d/da d/db a^b = a^(b - 1) (1 + b log a)
  const Value a = leaf({2, 4}), b = leaf({0, 0});
  const auto first = client::backward(sum(client::pointwise(Fn::pow, a, b, kSite)), {.create_graph = true}, kSite);
  const auto of_base = client::backward(sum(*first.get(a)), {.retain_graph = true}, kSite);
  EXPECT_THAT(numbers_of(*of_base.get(b)), ElementsAre(0.5, 0.25));
  const auto of_exponent = client::backward(sum(*first.get(b)), {}, kSite);
  EXPECT_THAT(numbers_of(*of_exponent.get(a)), ElementsAre(0.5, 0.25));
}

TEST(NormEdges, OfAZeroVectorHaveAGradientOfZero) {
  for (const double p : {0.5, 1.0, 1.5, 2.0, 3.0, 4.0, kInf, -kInf}) {
    for (const auto dtype : {DType::f64, DType::f32, DType::f16}) {
      const auto norm = [&](const Value& x) { return client::vector_norm(x, p, 1, kSite); };
      const auto got = gradient(norm, leaf({0, 0, 3, 4}, {2, 2}, dtype));
      EXPECT_EQ(got[0], 0) << p;
      EXPECT_EQ(got[1], 0) << p;
      EXPECT_GT(got[2] + got[3], 0) << p;
    }
    EXPECT_THAT(second_gradient([&](const Value& x) { return client::vector_norm(x, p, 0, kSite); }, {0, 0}), Each(0))
        << p;
  }
}

TEST(NormEdges, BesideAZeroAreThoseOfTheOtherElements) {
  for (const double p : {1.5, 2.0, 3.0}) {
    test::expect_gradients([&](const auto& x) { return client::vector_norm(x[0], p, 0, kSite); },
                           {TensorData(Numbers{0, -1, 2}, {3})}, 1e-2);  // |x|^1.5 has no second derivative at 0
  }
  // For p < 1 the slope at 0 is infinite; the gradient is defined as 0.
  const auto half = [](const Value& x) { return client::vector_norm(x, 0.5, 0, kSite); };
  EXPECT_THAT(gradient(half, Numbers{0, 4}), ElementsAre(0, 1));
  const auto inverse = [](const Value& x) { return client::vector_norm(x, -1, 0, kSite); };
  EXPECT_THAT(gradient(inverse, Numbers{0, 4}), Each(0));
  EXPECT_THAT(gradient(inverse, Numbers{2, 2}), ElementsAre(0.25, 0.25));
}

TEST(NormEdges, NormalisingAZeroVectorDividesByEpsilon) {
  for (const double p : {1.0, 2.0, 3.0, kInf}) {
    const auto normalize = [&](const Value& x) { return client::vector_normalize(x, p, 0, 1e-3, kSite); };
    EXPECT_THAT(gradient(normalize, Numbers{0, 0}), Each(NanSensitiveDoubleNear(1000, 1e-9))) << p;
  }
}

TEST(NormEdges, CosineSimilarityOfZeroVectors) {
  const auto with = [](const Numbers& other) {
    return [=](const Value& x) { return client::cosine_similarity(x, leaf(other).detach(), 0, 1e-2, kSite); };
  };
  EXPECT_THAT(gradient(with({0, 0}), Numbers{0, 0}), Each(0));
  EXPECT_THAT(gradient(with({3, 4}), Numbers{0, 0}),
              ElementsAre(NanSensitiveDoubleNear(60, 1e-9), NanSensitiveDoubleNear(80, 1e-9)));
  EXPECT_THAT(gradient(with({0, 0}), Numbers{3, 4}), Each(0));
}

Function cumprod(std::int64_t axis) {
  return [=](const Value& x) { return client::scan(Red::prod, x, axis, kSite); };
}

TEST(CumulativeProductEdges, WithZerosAreThoseOfThePolynomials) {
  EXPECT_THAT(gradient(cumprod(0), Numbers{2, 0, 3}), ElementsAre(1, 8, 0));
  EXPECT_THAT(gradient(cumprod(0), Numbers{0, 2, 3}), ElementsAre(9, 0, 0));
  EXPECT_THAT(gradient(cumprod(0), Numbers{0, 0, 3}), ElementsAre(1, 0, 0));
  EXPECT_THAT(gradient(cumprod(0), Numbers{2, 0, 0, 5}), ElementsAre(1, 2, 0, 0));
  EXPECT_THAT(gradient(cumprod(0), Numbers{0}), ElementsAre(1));
  EXPECT_THAT(gradient(cumprod(0), Numbers{1e-200, 1e-200, 1}), ElementsAre(1, 2e-200, 0))
      << "products too small for a number";
}

TEST(CumulativeProductEdges, AlongEveryAxisOfEveryLength) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 17}) {
    for (const int axis : {0, 1, 2}) {
      ir::Shape shape{2, 2, 2};
      shape[axis] = n;
      auto numbers = test::spread(shape, -1.5, 1.5).to_vec<double>();
      for (std::size_t i = 0; i < numbers.size(); i += 3) numbers[i] = 0;
      test::expect_gradients([&](const auto& x) { return client::scan(Red::prod, x[0], axis, kSite); },
                             {TensorData(numbers, shape)});
    }
  }
}

TEST(CumulativeProductEdges, TheGradientCanBeDifferentiatedWithZerosInIt) {
  const auto squared = [](const Value& x) {
    const Value y = client::scan(Red::prod, x, 0, kSite);
    return sum(client::pointwise(Fn::mul, y, client::pointwise(Fn::add, y, 1, kSite), kSite));
  };
  test::expect_gradients(
      [&](const auto& x) {
        if (x[0].is_tracked()) return *client::backward(squared(x[0]), {.create_graph = true}, kSite).get(x[0]);
        const Value at = client::require_grad(x[0].from_inner());  // for the differences: the same gradient, untracked
        return client::backward(squared(at), {}, kSite).get(at)->inner();
      },
      {TensorData(Numbers{2, 0, 3, 0, 1.5}, {5})});
}

TEST(ProductEdges, WithSeveralZeros) {
  const auto prod = [](const Value& x) { return client::reduce(Red::prod, x, {0}, kSite); };
  EXPECT_THAT(gradient(prod, Numbers{2, 0, 3}), ElementsAre(0, 6, 0));
  EXPECT_THAT(gradient(prod, Numbers{0, 0, 3}), Each(0));
  test::expect_gradients(
      [](const auto& x) {
        return client::reduce(Red::prod, x[0], {0, 1}, kSite);
      },
      {TensorData(Numbers{2, 0, 3, 4}, {2, 2})});
}

TEST(EmptyEdges, HaveEmptyGradients) {
  for (const auto& shape : {ir::Shape{0}, ir::Shape{2, 0}, ir::Shape{0, 3}, ir::Shape{2, 0, 3}}) {
    const int last = shape.rank() - 1;
    const auto expect_empty = [&](const char* what, const Function& f) {
      const Value x = leaf({}, shape);
      const Value y = f(x);
      const auto found = client::backward(sum(y), {}, kSite).get(x);
      ASSERT_TRUE(found.has_value()) << what;
      EXPECT_EQ(found->shape(), shape) << what;
      (void)client::to_data(*found);
    };
    for (const auto fn : {Red::sum, Red::prod, Red::max, Red::min}) {
      for (int axis = 0; axis <= last; ++axis) {
        expect_empty("scan", [&](const Value& x) { return client::scan(fn, x, axis, kSite); });
        if (fn == Red::sum || fn == Red::prod || shape[axis] != 0) {
          expect_empty("reduce", [&](const Value& x) { return client::reduce(fn, x, {axis}, kSite); });
        }
      }
    }
    expect_empty("prod of everything", [](const Value& x) { return client::reduce_all(Red::prod, x, kSite); });
    expect_empty("softmax", [&](const Value& x) { return client::softmax(x, last, kSite); });
    expect_empty("norm", [&](const Value& x) { return client::vector_norm(x, 2, last, kSite); });
  }
}

TEST(PointEdges, TheOriginHasNoDirection) {
  const Value a = leaf({0, 3}), b = leaf({0, 4});
  const auto gradients = client::backward(sum(client::pointwise(Fn::hypot, a, b, kSite)), {}, kSite);
  EXPECT_THAT(numbers_of(*gradients.get(a)), ElementsAre(0, 0.6));
  EXPECT_THAT(numbers_of(*gradients.get(b)), ElementsAre(0, 0.8));
  const auto of_angle = client::backward(sum(client::pointwise(Fn::atan2, a, b, kSite)), {}, kSite);
  EXPECT_THAT(numbers_of(*of_angle.get(a)), ElementsAre(0, 0.16));
  EXPECT_THAT(numbers_of(*of_angle.get(b)), ElementsAre(0, -0.12));
}

TEST(PointEdges, KinksTakeTheSlopeOfOneSide) {
  EXPECT_THAT(gradient([](const Value& x) { return client::pointwise(Fn::abs, x, kSite); }, Numbers{-2, 0, 2}),
              ElementsAre(-1, 0, 1));
  EXPECT_THAT(gradient([](const Value& x) { return client::clamp(x, -1, 1, kSite); }, Numbers{-2, -1, 0, 1, 2}),
              ElementsAre(0, 1, 1, 1, 0));
  EXPECT_THAT(gradient([](const Value& x) { return client::reduce(Red::max, x, {0}, kSite); }, Numbers{3, 1, 3}),
              ElementsAre(0.5, 0, 0.5));
}

TEST(PointEdges, FlatEndsHaveNoNan) {
  const Numbers ends{-kInf, -1e30, -200, 200, 1e30, kInf};
  const auto nothing = Each(NanSensitiveDoubleNear(0, 1e-80));
  EXPECT_THAT(gradient([](const Value& x) { return client::pointwise(Fn::sigmoid, x, kSite); }, ends), nothing);
  EXPECT_THAT(gradient([](const Value& x) { return client::pointwise(Fn::tanh, x, kSite); }, ends), nothing);
  EXPECT_THAT(gradient([](const Value& x) { return client::pointwise(Fn::div, 1e-90, x, kSite); }, ends), nothing);
  EXPECT_THAT(gradient([](const Value& x) { return client::softplus(x, 1, kSite); }, ends),
              ElementsAre(0, 0, NanSensitiveDoubleNear(0, 1e-80), 1, 1, 1));
  EXPECT_THAT(gradient([](const Value& x) { return client::log_sigmoid(x, kSite); }, ends),
              ElementsAre(1, 1, 1, NanSensitiveDoubleNear(0, 1e-80), 0, 0));
}

TEST(PointEdges, MaskedScoresTakeNoPartInASoftmax) {
  const Numbers scores{-kInf, 1, 1};
  EXPECT_THAT(
      gradient([](const Value& x) { return client::narrow(client::softmax(x, 0, kSite), 0, 1, 1, kSite); }, scores),
      ElementsAre(0, 0.25, -0.25));
  EXPECT_THAT(
      gradient([](const Value& x) { return client::narrow(client::log_softmax(x, 0, kSite), 0, 1, 1, kSite); }, scores),
      ElementsAre(0, 0.5, -0.5));
  EXPECT_THAT(gradient([](const Value& x) { return client::softmax_or_zero(x, kSite); }, Numbers{-kInf, -kInf}),
              Each(0));
}

// Only elements below 0 contribute to the gradient of the slope, however large the others are.
TEST(ActivationEdges, AnInfiniteInputLeavesTheSlopeOfPreluAlone) {
  const Value x = leaf({kInf, -2, 3});
  EXPECT_THAT(gradient([&](const Value& slope) { return client::prelu(x, slope, kSite); }, Numbers{0.25}),
              ElementsAre(-2));
}

TEST(ActivationEdges, WhatShrinkMakesZeroGetsNoGradient) {
  const Value weights = leaf({kInf, 1, 1});
  const auto weighted = [&](const Value& x) {
    return client::pointwise(Fn::mul, client::shrink(x, 1, 0.5, kSite), weights, kSite);
  };
  EXPECT_THAT(gradient(weighted, Numbers{0.5, 2, -3}), ElementsAre(0, 1, 1));
}

}  // namespace
}  // namespace burn
