// Accuracy and limits of the vector functions, against the C library in double.
#include "backends/cpu/vector/float_loops.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace burn::backends::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> values_of(ir::PointwiseFn fn, const std::vector<float>& x) {
  std::vector<float> y(x.size());
  const void* operands[] = {x.data()};
  const std::int64_t strides[] = {1};
  vector_loop(fn, ir::DType::f32)(static_cast<std::int64_t>(x.size()), y.data(), operands, strides);
  return y;
}

// Units in the last place of the exact value.
double error(float actual, double exact) {
  if (std::isnan(exact)) return std::isnan(actual) ? 0 : 1e9;
  const auto nearest = static_cast<float>(exact);
  if (std::isinf(nearest) || std::isinf(actual)) return actual == nearest ? 0 : 1e9;
  const float size = std::max(std::abs(nearest), std::numeric_limits<float>::min());
  return std::abs(static_cast<double>(actual) - exact) / (std::nextafter(size, kInfinity) - size);
}

struct Function {
  ir::PointwiseFn fn;
  double (*exact)(double);
  double low, high;
  double bound;  // units in the last place
};

class VectorMathTest : public ::testing::TestWithParam<Function> {
 protected:
  void SetUp() override {
    if (!vector_loop(GetParam().fn, ir::DType::f32)) GTEST_SKIP() << "no wide vectors here";
  }
};

TEST_P(VectorMathTest, IsAccurateOverItsWholeRange) {
  const auto& [fn, exact, low, high, bound] = GetParam();
  std::vector<float> x;
  for (int i = 0; i <= 400'003; ++i) x.push_back(static_cast<float>(low + (high - low) * i / 400'003));
  for (float tiny = 1e-38f; tiny < 1; tiny *= 3) {
    if (low <= -tiny) x.push_back(-tiny);
    if (low <= tiny && tiny <= high) x.push_back(tiny);
  }
  const auto y = values_of(fn, x);
  double worst = 0;
  float where = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (const double e = error(y[i], exact(x[i])); e > worst) worst = e, where = x[i];
  }
  EXPECT_LE(worst, bound) << "at " << where;
}

TEST_P(VectorMathTest, HasTheLimitsOfTheCLibrary) {
  const auto& [fn, exact, low, high, bound] = GetParam();
  const std::vector<float> x{kInfinity, -kInfinity, kNan,  0.0f,   -0.0f,  1e-40f, -1e-40f, 3e38f, -3e38f,
                             88.7f,     88.73f,     -88.f, -100.f, -104.f, 1e30f,  -1.f,    9.1f};
  const auto y = values_of(fn, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(x[i]);
    if (std::abs(y[i] - expected) < std::numeric_limits<float>::min()) continue;  // one of them underflows
    EXPECT_LE(error(y[i], expected), bound) << "at " << x[i] << ": " << y[i] << " instead of " << expected;
  }
}

TEST_P(VectorMathTest, TakesAnyLengthAndStride) {
  const auto& [fn, exact, low, high, bound] = GetParam();
  std::vector<float> x(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.01f * static_cast<float>(i + 1);
  const auto expected = values_of(fn, x);
  const auto loop = vector_loop(fn, ir::DType::f32);
  for (const std::int64_t stride : {0, 1, 2, 3}) {
    for (std::int64_t n = 1; n <= 33; ++n) {
      std::vector<float> y(static_cast<std::size_t>(n) + 1, -7);
      const void* operands[] = {x.data()};
      loop(n, y.data(), operands, &stride);
      for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(y[i], expected[i * stride]) << n << " elements, stride " << stride;
      ASSERT_EQ(y[static_cast<std::size_t>(n)], -7) << "wrote beyond its end";
    }
  }
}

using ir::PointwiseFn;
INSTANTIATE_TEST_SUITE_P(
    Functions, VectorMathTest,
    ::testing::Values(Function{PointwiseFn::exp, [](double x) { return std::exp(x); }, -103, 88.7, 2},
                      Function{PointwiseFn::expm1, [](double x) { return std::expm1(x); }, -20, 88, 4},
                      Function{PointwiseFn::log, [](double x) { return std::log(x); }, 1e-6, 100, 2},
                      Function{PointwiseFn::log1p, [](double x) { return std::log1p(x); }, -0.999, 100, 4},
                      Function{PointwiseFn::tanh, [](double x) { return std::tanh(x); }, -10, 10, 6},
                      Function{PointwiseFn::erf, [](double x) { return std::erf(x); }, -5, 5, 7},
                      Function{PointwiseFn::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -87, 40, 4},
                      Function{PointwiseFn::sin, [](double x) { return std::sin(x); }, -20, 20, 40},
                      Function{PointwiseFn::cos, [](double x) { return std::cos(x); }, -20, 20, 40}),
    [](const auto& info) { return std::string(ir::name(info.param.fn)); });

TEST(VectorDivision, ByOneNumberRoundsLikeADivision) {
  const auto loop = vector_loop(PointwiseFn::div, ir::DType::f32);
  if (!loop) GTEST_SKIP() << "no wide vectors here";
  std::vector<float> x, y;
  for (int i = -3000; i < 3000; ++i) x.push_back(static_cast<float>(i) * 0.37f);
  x.insert(x.end(), {kInfinity, -kInfinity, kNan, 0.0f, 3e38f, 1e-30f});
  y.resize(x.size());
  for (const float divisor : {3.0f, 49.0f, 1.4142135f, -0.1f, 8.0f, 0.25f, 0.0f, kInfinity, 1e-30f, 1e30f, kNan}) {
    const void* operands[] = {x.data(), &divisor};
    const std::int64_t strides[] = {1, 0};
    loop(static_cast<std::int64_t>(x.size()), y.data(), operands, strides);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float expected = x[i] / divisor;
      ASSERT_TRUE(y[i] == expected || (std::isnan(y[i]) && std::isnan(expected))) << x[i] << " / " << divisor << ": " << y[i];
    }
  }
}

}  // namespace
}  // namespace burn::backends::cpu
