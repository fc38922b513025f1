// Chains of steps in one pass, bit by bit as the steps one after the other.
#include "backends/cpu/simd/chain_loops.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/simd/isa.h"
#include "tests/backends/numbers.h"

namespace burn::testing {
namespace {

using namespace backends::cpu;
using Fn = ir::PointwiseFn;

class ChainLoops : public ::testing::TestWithParam<std::vector<Fn>> {
 protected:
  static constexpr int kMost = 83;

  // Stride 0 for the operands whose bits are set in `repeated`.
  void check(unsigned repeated) {
    Chain chain{.steps = static_cast<int>(GetParam().size())};
    std::ranges::copy(GetParam(), chain.fns);
    const auto loop = chain_loop(chain);
    ASSERT_NE(loop, nullptr);
    std::vector<std::vector<float>> x;
    std::vector<const void*> operands;
    std::vector<std::int64_t> strides;
    for (int k = 0; k <= chain.steps; ++k) x.push_back(numbers(kMost, k));
    for (int k = 0; k <= chain.steps; ++k) {
      operands.push_back(x[static_cast<std::size_t>(k)].data());
      strides.push_back((repeated >> k & 1) != 0 ? 0 : 1);
    }
    for (const int n : {1, 8, 15, 16, 40, kMost}) {
      std::vector<float> y(static_cast<std::size_t>(n) + 1, -7), expected(x[0]);
      if (strides[0] == 0) std::ranges::fill(expected, x[0][0]);
      for (int k = 0; k < chain.steps; ++k) {
        const auto at = static_cast<std::size_t>(k);
        const void* pair[] = {expected.data(), operands[at + 1]};
        const std::int64_t steps[] = {1, strides[at + 1]};
        pointwise_loop(chain.fns[k], ir::DType::f32)(n, expected.data(), pair, steps);
      }
      loop(n, y.data(), operands.data(), strides.data());
      for (int i = 0; i < n; ++i)
        EXPECT_EQ(y[static_cast<std::size_t>(i)], expected[static_cast<std::size_t>(i)])
            << "element " << i << " of " << n << ", repeated operands " << repeated;
      EXPECT_EQ(y[static_cast<std::size_t>(n)], -7) << "wrote beyond its end";
    }
  }
};

TEST_P(ChainLoops, GiveWhatTheirStepsGive) {
  if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
  for (unsigned repeated = 0; repeated < 2U << GetParam().size(); ++repeated) check(repeated);
}

INSTANTIATE_TEST_SUITE_P(Of, ChainLoops,
                         ::testing::Values(std::vector{Fn::add, Fn::mul}, std::vector{Fn::div, Fn::mul, Fn::add},
                                           std::vector{Fn::sub, Fn::sub}, std::vector{Fn::sub, Fn::mul, Fn::add},
                                           std::vector{Fn::sub, Fn::div}, std::vector{Fn::sub, Fn::mul},
                                           std::vector{Fn::sub, Fn::div, Fn::mul},
                                           std::vector{Fn::sub, Fn::mul, Fn::mul},
                                           std::vector{Fn::sub, Fn::div, Fn::mul, Fn::add},
                                           std::vector{Fn::sub, Fn::mul, Fn::mul, Fn::add}));

TEST(ChainLoopsOfFourSteps, AreThoseOfNormsAlone) {
  EXPECT_EQ(chain_loop({.steps = 4, .fns = {Fn::add, Fn::div, Fn::mul, Fn::add}}), nullptr);
  EXPECT_EQ(chain_loop({.steps = 4, .fns = {Fn::sub, Fn::div, Fn::add, Fn::add}}), nullptr);
}

}  // namespace
}  // namespace burn::testing
