// Distributions of random tensors, in every dtype. Seeds are fixed; bounds are six standard deviations of the counted
// quantity.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "client/tensor/tensor.h"
#include "tests/support/error_of.h"

namespace burn {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Lt;

constexpr std::int64_t kCount = 1 << 18;

template <Kind K, typename T>
std::vector<T> drawn(const Distribution& distribution, DType dtype, std::int64_t count = kCount) {
  static const Device device{"cpu"};
  device.seed(11);
  return Tensor<1, K>::random({count}, distribution, {device, dtype}).to_data().template to_vec_as<T>();
}

class EveryFloat : public ::testing::TestWithParam<DType> {};

TEST_P(EveryFloat, BernoulliHasItsProbability) {
  for (const double p : {0.001, 0.1, 0.999}) {
    const auto x = drawn<Float, float>(Distribution::bernoulli(p), GetParam());
    const double ones = static_cast<double>(std::ranges::count(x, 1.0f));
    EXPECT_NEAR(ones, p * kCount, 6 * std::sqrt(p * (1 - p) * kCount)) << p;
    EXPECT_EQ(static_cast<std::int64_t>(ones) + std::ranges::count(x, 0.0f), kCount);
  }
  EXPECT_THAT((drawn<Float, float>(Distribution::bernoulli(1), GetParam(), 1000)), Each(1));
  EXPECT_THAT((drawn<Float, float>(Distribution::bernoulli(0), GetParam(), 1000)), Each(0));
}

TEST_P(EveryFloat, UniformStaysBelowItsUpperEnd) {
  for (const auto& [low, high] :
       {std::pair{0.5, 1.5}, {-1.0, 0.0}, {0.0, 1.0}, {-3.0, -2.0}, {1000.0, 1001.0}, {0.0, 1e-4}}) {
    const auto x = drawn<Float, double>(Distribution::uniform(low, high), GetParam(), 1 << 19);
    const auto [least, most] = std::ranges::minmax(x);
    EXPECT_GE(least, low);
    EXPECT_LT(most, high) << low;
  }
}

TEST_P(EveryFloat, UniformHasItsMeanAndReachesItsEnds) {
  const auto x = drawn<Float, double>(Distribution::uniform(-3, 1), GetParam());
  double sum = 0;
  for (const double v : x) sum += v;
  const double rounding = GetParam() == DType::bf16 ? 2e-3 : 0;
  EXPECT_NEAR(sum / kCount, -1, 6 * 4 / std::sqrt(12.0 * kCount) + rounding);
  EXPECT_LT(std::ranges::min(x), -2.98);
  EXPECT_GT(std::ranges::max(x), 0.98);
}

TEST_P(EveryFloat, NormalIsFiniteWithThinTails) {
  const auto x = drawn<Float, double>(Distribution::normal(2, 3), GetParam());
  double sum = 0, squares = 0, beyond = 0;
  for (const double v : x)
    sum += v, squares += (v - 2) * (v - 2), beyond += std::abs(v - 2) > 12;  // 4 deviations: 6.33e-5
  EXPECT_TRUE(std::ranges::all_of(x, [](double v) { return std::isfinite(v); }));
  EXPECT_NEAR(sum / kCount, 2, 0.036);
  EXPECT_NEAR(squares / kCount, 9, 0.15);
  EXPECT_NEAR(beyond, 6.33e-5 * kCount, 6 * std::sqrt(6.33e-5 * kCount) + 5);
}

INSTANTIATE_TEST_SUITE_P(Types, EveryFloat, ::testing::Values(DType::f64, DType::f32, DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(ir::name(info.param)); });

TEST(UniformFloats, TakeRangesThatAreOne) {
  EXPECT_THAT((drawn<Float, float>(Distribution::uniform(2, 2), DType::f32, 10)), Each(2));
  EXPECT_THAT((drawn<Float, float>(Distribution::uniform(-65504, 65504), DType::f16, 1000)),
              Each(AllOf(Ge(-65504), Lt(65504))));
  EXPECT_THAT(test::error_of([] { drawn<Float, float>(Distribution::uniform(2, 1), DType::f32); }),
              HasSubstr("random: uniform in [2.0"));
  EXPECT_THAT(test::error_of([] { drawn<Float, float>(Distribution::uniform(-3e38, 3e38), DType::f32); }),
              HasSubstr("no range"));
  EXPECT_THAT(test::error_of([] { drawn<Float, float>(Distribution::uniform(0, NAN), DType::f32); }),
              HasSubstr("no range"));
  EXPECT_THAT(test::error_of([] { drawn<Float, float>(Distribution::bernoulli(1.5), DType::f32); }),
              HasSubstr("a probability of 1.5"));
}

class EveryInteger : public ::testing::TestWithParam<DType> {};

TEST_P(EveryInteger, UniformGivesEveryNumberEquallyOften) {
  const bool is_signed = ir::dtype_class(GetParam()) == ir::DTypeClass::signed_integer;
  const int low = is_signed ? -3 : 4;
  std::map<std::int64_t, double> counts;
  for (const auto x : drawn<Int, std::int64_t>(Distribution::uniform(low, low + 6), GetParam())) ++counts[x];
  ASSERT_EQ(counts.size(), 6);
  for (const auto& [x, count] : counts) {
    EXPECT_THAT(x, AllOf(Ge(low), Lt(low + 6)));
    EXPECT_NEAR(count, kCount / 6.0, 6 * std::sqrt(kCount / 6.0)) << x;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EveryInteger,
                         ::testing::Values(DType::i64, DType::i32, DType::i16, DType::i8, DType::u64, DType::u32,
                                           DType::u16, DType::u8),
                         [](const auto& info) { return std::string(ir::name(info.param)); });

TEST(UniformIntegers, HaveEveryBitOfALargeRange) {
  const auto x = drawn<Int, std::int64_t>(Distribution::uniform(0, 1 << 30), DType::i64);
  EXPECT_GE(std::ranges::min(x), 0);
  EXPECT_LT(std::ranges::max(x), 1 << 30);
  for (int k = 0; k < 30; ++k) {
    const auto set = std::ranges::count_if(x, [k](std::int64_t v) { return (v >> k & 1) == 1; });
    EXPECT_NEAR(static_cast<double>(set), kCount / 2.0, 3 * std::sqrt(kCount)) << "bit " << k;
  }
}

// Checks that each sixteenth of the range gets the same share of numbers, and that the low 6 bits take all values, so
// that the numbers are not multiples of a coarser step.
void expect_even(const Distribution& distribution, DType dtype, long double low, long double high) {
  static const Device device{"cpu"};
  device.seed(12);
  const auto data = Tensor<1, Int>::random({kCount}, distribution, {device, dtype}).to_data();
  std::vector<double> parts(16);
  std::set<int> last_bits;
  const auto count = [&](auto v) {
    const auto at = (static_cast<long double>(v) - low) / (high - low);
    ASSERT_TRUE(at >= 0 && at < 1) << at;
    ++parts[static_cast<std::size_t>(at * 16)];
    last_bits.insert(static_cast<int>(v & 63));
  };
  if (dtype == DType::u64)
    for (const auto v : data.as_slice<std::uint64_t>()) count(v);
  else
    for (const auto v : data.as_slice<std::int64_t>()) count(v);
  for (const double part : parts) EXPECT_NEAR(part, kCount / 16.0, 6 * std::sqrt(kCount / 16.0));
  EXPECT_EQ(last_bits.size(), 64);
}

TEST(UniformIntegers, AreEvenInRangesOfAnySize) {
  expect_even(Distribution::uniform(0, 3 * (std::int64_t{1} << 30)), DType::i64, 0, 3 * 0x1p30L);
  expect_even(Distribution::uniform(-(std::int64_t{1} << 40), std::int64_t{1} << 50), DType::i64, -0x1p40L, 0x1p50L);
  expect_even(Distribution::uniform(INT64_MIN, INT64_MAX), DType::i64, -0x1p63L, 0x1p63L);
  expect_even(Distribution::uniform(0, UINT64_MAX), DType::u64, 0, 0x1p64L);
  expect_even(Distribution::uniform(0, 0x1p64), DType::u64, 0, 0x1p64L);
  expect_even(Distribution::uniform(std::uint64_t{1} << 62, 0x1p64), DType::u64, 0x1p62L, 0x1p64L);
}

TEST(UniformIntegers, AreThoseBetweenFractions) {
  std::set<std::int64_t> seen;
  for (const auto x : drawn<Int, std::int64_t>(Distribution::uniform(-1.5, 1.5), DType::i64)) seen.insert(x);
  EXPECT_EQ(seen, (std::set<std::int64_t>{-1, 0, 1}));
}

TEST(UniformIntegers, NeedANumberToDrawThatTheTypeHas) {
  EXPECT_THAT(test::error_of([] { drawn<Int, float>(Distribution::uniform(0.2, 0.8), DType::i64); }),
              HasSubstr("where there is no whole number"));
  EXPECT_THAT(test::error_of([] { drawn<Int, float>(Distribution::uniform(0, 300), DType::u8); }),
              HasSubstr("are not all u8"));
  EXPECT_EQ((drawn<Int, std::int64_t>(Distribution::uniform(0, 256), DType::u8)).size(),
            static_cast<std::size_t>(kCount));
}

TEST(NormalIntegers, AreRoundedToTheNearest) {
  const auto x = drawn<Int, std::int64_t>(Distribution::normal(0, 1), DType::i64);
  const auto share = [&](std::int64_t v) { return static_cast<double>(std::ranges::count(x, v)) / kCount; };
  EXPECT_NEAR(share(0), 0.3829, 0.006);
  EXPECT_NEAR(share(1), 0.2417, 0.006);
  EXPECT_NEAR(share(-1), 0.2417, 0.006);
  const auto large = drawn<Int, std::int64_t>(Distribution::normal(1e12, 100), DType::i64);
  EXPECT_GT((std::set<std::int64_t>(large.begin(), large.end()).size()), 500u);  // not multiples of a coarser step
}

}  // namespace
}  // namespace burn
