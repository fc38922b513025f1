// Accuracy and limits of the vector functions, against the C library in double.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/simd/chain_loops.h"
#include "backends/cpu/simd/float_loops.h"
#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/stream.h"

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
    if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
    ASSERT_NE(vector_loop(GetParam().fn, ir::DType::f32), nullptr);
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

// Every number of a binade or so at a time, across the range where the function changes: the next one never gives less.
void expect_never_falls(ir::PointwiseFn fn, float from, float to) {
  std::vector<float> x;
  float last = -kInfinity;
  while (from < to) {
    x.clear();
    for (; from < to && x.size() < 4096; from = std::nextafter(from, kInfinity)) x.push_back(from);
    for (const float y : values_of(fn, x)) {
      ASSERT_GE(y, last) << "near " << x[0];
      last = y;
    }
  }
}

TEST(VectorErf, NeverFalls) {
  if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
  for (const float start :
       {0.001f, 0.0625f, 0.4675f, 0.4999f, 0.9999f, 1.5f, 1.9175f, 1.9999f, 2.7f, 3.2f, 3.7f, 3.9f}) {
    expect_never_falls(ir::PointwiseFn::erf, start, start + 3e-4f * std::max(start, 0.1f));
    expect_never_falls(ir::PointwiseFn::erf, -start - 3e-4f * std::max(start, 0.1f), -start);
  }
  expect_never_falls(ir::PointwiseFn::erf, 3.9f, 4.1f);
}

TEST(VectorErf, IsOneWhereItRoundsToIt) {
  if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
  const std::vector<float> x{3.93f, 4, 10, 1e6f, 3e38f, kInfinity};
  EXPECT_EQ(values_of(ir::PointwiseFn::erf, x), std::vector<float>(x.size(), 1));
  auto negative = x;
  for (float& v : negative) v = -v;
  EXPECT_EQ(values_of(ir::PointwiseFn::erf, negative), std::vector<float>(x.size(), -1));
}

using ir::PointwiseFn;
INSTANTIATE_TEST_SUITE_P(
    Functions, VectorMathTest,
    ::testing::Values(Function{PointwiseFn::exp, [](double x) { return std::exp(x); }, -103, 88.7, 2},
                      Function{PointwiseFn::expm1, [](double x) { return std::expm1(x); }, -20, 88, 4},
                      Function{PointwiseFn::log, [](double x) { return std::log(x); }, 1e-6, 100, 2},
                      Function{PointwiseFn::log1p, [](double x) { return std::log1p(x); }, -0.999, 100, 4},
                      Function{PointwiseFn::tanh, [](double x) { return std::tanh(x); }, -10, 10, 6},
                      Function{PointwiseFn::erf, [](double x) { return std::erf(x); }, -5, 5, 4},
                      Function{PointwiseFn::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -87, 40, 4},
                      Function{PointwiseFn::sin, [](double x) { return std::sin(x); }, -20, 20, 40},
                      Function{PointwiseFn::cos, [](double x) { return std::cos(x); }, -20, 20, 40}),
    [](const auto& info) { return std::string(ir::name(info.param.fn)); });

TEST(VectorDivision, ByOneNumberRoundsLikeADivision) {
  const auto loop = vector_loop(PointwiseFn::div, ir::DType::f32);
  if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
  ASSERT_NE(loop, nullptr);
  std::vector<float> x, y;
  for (int i = -3000; i < 3000; ++i) x.push_back(static_cast<float>(i) * 0.37f);
  x.insert(x.end(), {kInfinity, -kInfinity, kNan, 0.0f, -0.0f, 3e38f, 1e-30f});
  y.resize(x.size());
  for (const float divisor :
       {3.0f, 49.0f, 1.4142135f, -0.1f, 8.0f, 0.25f, -4.0f, 0.0f, kInfinity, 1e-30f, 1e30f, kNan}) {
    const void* operands[] = {x.data(), &divisor};
    const std::int64_t strides[] = {1, 0};
    loop(static_cast<std::int64_t>(x.size()), y.data(), operands, strides);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float expected = x[i] / divisor;
      ASSERT_TRUE(std::bit_cast<std::uint32_t>(y[i]) == std::bit_cast<std::uint32_t>(expected) ||
                  (std::isnan(y[i]) && std::isnan(expected)))
          << x[i] << " / " << divisor << ": " << y[i];
    }
  }
}

// fn(x before z) and its steps, one after the other as the plain loops have them.
float step_by_step(const Chain& chain, const float* operands) {
  const auto apply = [](PointwiseFn fn, float a, float b) {
    float y = 0;
    const void* at[] = {&a, &b};
    const std::int64_t strides[] = {1, 1};
    pointwise_loop(fn, ir::DType::f32)(1, &y, at, strides);
    return y;
  };
  float y = *operands++;
  if (chain.before) y = apply(*chain.before, y, *operands++);
  if (chain.function) y = apply(*chain.function, y, 0);
  for (int k = 0; k < chain.steps; ++k) y = apply(chain.fns[k], y, *operands++);
  return y;
}

struct Pattern {
  std::optional<PointwiseFn> before;
  std::vector<PointwiseFn> steps;
  bool exists = true;
};

class FunctionChainTest : public ::testing::TestWithParam<Pattern> {};

TEST_P(FunctionChainTest, GivesWhatItsStepsGive) {
  const auto& [before, steps, exists] = GetParam();
  Chain chain{.function = PointwiseFn::tanh, .before = before, .steps = static_cast<int>(steps.size())};
  std::ranges::copy(steps, chain.fns);
  if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
  for (const auto store : {Store::cached, Store::past_caches}) {
    const auto loop = function_chain_loop(chain, store);
    ASSERT_EQ(loop != nullptr, exists);
    if (!exists) return;
    for (const float z : {3.0f, 4.0f, 1e-30f}) {
      alignas(64) float x[4][71], y[72];
      for (int i = 0; i < 71; ++i)
        x[0][i] = 0.1f * static_cast<float>(i - 35), x[1][i] = z, x[2][i] = x[0][i] + 2, x[3][i] = z;
      const bool has_z = before.has_value();
      const void* operands[] = {x[0], has_z ? x[1] : x[2], has_z ? x[2] : x[1], x[3], x[2]};
      const std::int64_t strides[] = {1, has_z ? 0 : 1, has_z ? 1 : 0, 0, 1};
      for (const int n : {1, 8, 13, 32, 71}) {
        y[n] = -7;
        loop(n, y, operands, strides);
        finish_streaming();
        for (int i = 0; i < n; ++i) {
          float at[5];
          for (int k = 0; k < 5; ++k) at[k] = static_cast<const float*>(operands[k])[i * strides[k]];
          const float expected = step_by_step(chain, at);
          EXPECT_TRUE(y[i] == expected || std::abs(y[i] - expected) <= 4e-7f * std::abs(expected))
              << "element " << i << " of " << n << ", z = " << z << ": " << y[i] << " instead of " << expected;
        }
        EXPECT_EQ(y[n], -7) << "wrote beyond its end";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, FunctionChainTest,
    ::testing::Values(Pattern{{}, {PointwiseFn::add}}, Pattern{{}, {PointwiseFn::mul}}, Pattern{{}, {PointwiseFn::div}},
                      Pattern{PointwiseFn::mul, {PointwiseFn::add, PointwiseFn::mul}},
                      Pattern{PointwiseFn::div, {PointwiseFn::mul, PointwiseFn::mul}},
                      Pattern{PointwiseFn::div, {PointwiseFn::add, PointwiseFn::mul, PointwiseFn::div}},
                      Pattern{{}, {PointwiseFn::mul, PointwiseFn::add}, false},
                      Pattern{{}, {PointwiseFn::div, PointwiseFn::mul}, false},
                      Pattern{PointwiseFn::sub, {PointwiseFn::mul}, false}, Pattern{{}, {PointwiseFn::max}, false}));

// (fn(x / b) + c) * x last e: a power of two that repeats needs a step less than numbers that differ.
TEST(FunctionChainByPowersOfTwo, RoundsAsStepByStep) {
  if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
  constexpr std::size_t kCount = 4099;
  std::vector<float> x(kCount), y(kCount), expected(kCount), e(kCount);
  for (std::size_t i = 0; i < kCount; ++i) x[i] = 0.0021f * (static_cast<float>(i) - 2049);
  for (const auto fn : {PointwiseFn::erf, PointwiseFn::tanh}) {
    for (const auto last : {PointwiseFn::mul, PointwiseFn::div}) {
      for (const float power : {0.5f, 2.0f, -0.25f, 16.0f, 0x1p-40f}) {
        for (const float c : {1.0f, 0.3f, -0.7f, 0.0f}) {
          Chain chain{.function = fn, .before = PointwiseFn::div, .steps = 3};
          std::ranges::copy(std::array{PointwiseFn::add, PointwiseFn::mul, last}, chain.fns);
          const auto loop = function_chain_loop(chain, Store::cached);
          ASSERT_NE(loop, nullptr);
          const float b = 1.41421356f;
          std::ranges::fill(e, power);
          const void* operands[] = {x.data(), &b, &c, x.data(), e.data()};
          const std::int64_t repeated[] = {1, 0, 0, 1, 0}, differing[] = {1, 0, 0, 1, 1};
          loop(kCount, y.data(), operands, repeated);
          loop(kCount, expected.data(), operands, differing);
          for (std::size_t i = 0; i < kCount; ++i)  // the sign of a zero, too
            ASSERT_EQ(std::bit_cast<std::uint32_t>(y[i]), std::bit_cast<std::uint32_t>(expected[i]))
                << "x = " << x[i] << ", c = " << c << ", e = " << power;
        }
      }
    }
  }
}

TEST(StreamCopy, CopiesAnyStretchAndNothingBesides) {
  std::vector<std::byte> from(500), to(500);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251);
  for (std::size_t begin = 0; begin < 70; begin += 3) {
    for (const std::size_t size : {0, 1, 63, 64, 65, 200, 400}) {
      std::ranges::fill(to, std::byte{255});
      stream_copy(to.data() + begin, from.data() + 7, size);
      finish_streaming();
      for (std::size_t i = 0; i < to.size(); ++i) {
        const bool is_inside = i >= begin && i < begin + size;
        ASSERT_EQ(to[i], is_inside ? from[i - begin + 7] : std::byte{255})
            << size << " bytes at " << begin << ", byte " << i;
      }
    }
  }
}

}  // namespace
}  // namespace burn::backends::cpu
