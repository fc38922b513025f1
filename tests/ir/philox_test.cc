#include "ir/semantics/philox.h"

#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "ir/ops.h"

namespace burn::ir {
namespace {

// The known answers from the authors' Random123 library.
TEST(Philox, GivesTheKnownAnswers) {
  constexpr auto kOnes = 0xffffffffu;
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}), (Lanes{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
            (Lanes{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Lanes{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, UsesAllBitsOfSeedAndBlock) {
  const auto base = philox(1, 1);
  EXPECT_NE(philox(1 | std::uint64_t{1} << 32, 1), base);
  EXPECT_NE(philox(1, 1 | std::uint64_t{1} << 32), base);
  EXPECT_NE(philox(1, 1, 1), base);
  EXPECT_NE(philox(2, 1), philox(1, 2));
}

TEST(Uniform, StaysBelowOneInEveryType) {
  EXPECT_LT(uniform_from_bits(std::uint32_t{0xffffffff}), 1.0f);
  EXPECT_LT(uniform_from_bits(~std::uint64_t{0}), 1.0);
  EXPECT_EQ(uniform_from_bits(std::uint32_t{0}), 0.0f);
  EXPECT_EQ(uniform_from_bits(std::uint32_t{0x80000000}), 0.5f);
  EXPECT_EQ(uniform_from_bits(std::uint64_t{1} << 11), 0x1p-53);
}

TEST(Uniform, TypesAgreeUpToTheirPrecision) {
  const auto f32 = uniform_block<float>(7, 9);
  const auto f64 = uniform_block<double>(7, 9);
  const auto bits = bits_block(7, 9);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(f32[i], f64[i], 0x1p-24);
    EXPECT_NEAR(static_cast<double>(bits[i]) * 0x1p-64, f64[i], 0x1p-53);
  }
}

TEST(Bits, AreSetAsOftenAsNot) {
  constexpr std::uint64_t kDrawn = 20'000;  // a bit's count deviates by 70 or so
  std::array<int, 64> set{};
  for (std::uint64_t block = 0; block < kDrawn / 4; ++block) {
    for (const auto x : bits_block(5, block)) {
      for (std::size_t k = 0; k < 64; ++k) set[k] += static_cast<int>(x >> k & 1);
    }
  }
  for (std::size_t k = 0; k < 64; ++k) EXPECT_NEAR(set[k], kDrawn / 2.0, 400) << "bit " << k;
}

struct Moments {
  double mean = 0, variance = 0;
};
template <typename T>
Moments moments(RandomFn fn) {
  std::vector<double> all;
  for (std::uint64_t block = 0; block < 50'000; ++block) {
    for (const T x : random_block<T>(fn, 42, block)) all.push_back(static_cast<double>(x));
  }
  Moments m;
  m.mean = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
  for (const double x : all) m.variance += (x - m.mean) * (x - m.mean) / static_cast<double>(all.size());
  return m;
}

TEST(Random, HasTheMomentsItPromises) {
  const auto uniform = moments<float>(RandomFn::uniform);
  EXPECT_NEAR(uniform.mean, 0.5, 0.005);
  EXPECT_NEAR(uniform.variance, 1.0 / 12, 0.002);
  for (const auto& normal : {moments<float>(RandomFn::normal), moments<double>(RandomFn::normal)}) {
    EXPECT_NEAR(normal.mean, 0.0, 0.01);
    EXPECT_NEAR(normal.variance, 1.0, 0.02);
  }
}

TEST(Random, NormalsAreFinite) {
  for (std::uint64_t block = 0; block < 100'000; ++block) {
    for (const float x : normal_block<float>(3, block)) ASSERT_TRUE(std::isfinite(x));
  }
}

}  // namespace
}  // namespace burn::ir
