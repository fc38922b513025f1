// Sums of what is left of rows without their largest element, or their mean.
#include "backends/cpu/simd/centred_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/simd/float_loops.h"
#include "backends/cpu/simd/isa.h"
#include "backends/cpu/simd/reduce_table.h"
#include "tests/backends/numbers.h"

namespace burn::testing {
namespace {

using namespace backends::cpu;
using ir::DType;
using ir::PointwiseFn;

// Bit by bit what the parts give, NaN for NaN, whatever is in a row and wherever it is; sums of exps that nobody keeps
// have a shorter form of exp and differ in the last bits.
class CentredSums : public ::testing::TestWithParam<int> {
 protected:
  static constexpr std::int64_t kRows = 5, kRowsAtOnce = 2, kGap = 3;

  void check(Centre centre, const std::vector<float>& a) {
    const bool is_exp = centre == Centre::largest;
    const Chain chain = is_exp ? Chain{.function = PointwiseFn::exp, .before = PointwiseFn::sub}
                               : Chain{.steps = 1, .fns = {PointwiseFn::sub}};
    const auto loop = centred_sum_loop(chain, centre);
    ASSERT_NE(loop, nullptr);
    const std::int64_t n = GetParam();
    const float divisor = is_exp ? 1 : static_cast<float>(n);
    const auto whole = is_exp ? vector_loop_after(PointwiseFn::sub, PointwiseFn::exp, DType::f32)
                              : pointwise_loop(PointwiseFn::sub, DType::f32);
    const auto combine = reduce_loops(is_exp ? ir::ReduceFn::max : ir::ReduceFn::sum, DType::f32);
    const auto total = reduce_loops(ir::ReduceFn::sum, DType::f32);
    std::vector<float> y(static_cast<std::size_t>(kRows * n)), centres(kRows), sums(kRows);
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      combine.each(1, n, a.data() + row * (n + kGap), &centres[at]);
      if (!is_exp) centres[at] /= divisor;
      const void* operands[] = {a.data() + row * (n + kGap), &centres[at]};
      const std::int64_t strides[] = {1, 0};
      whole(n, y.data() + row * n, operands, strides);
      is_exp ? total.each(1, n, y.data() + row * n, &sums[at])
             : dot_loop()(1, n, y.data() + row * n, y.data() + row * n, &sums[at]);
    }

    for (const bool stores : {false, true}) {
      std::vector<float> actual(y.size()), actual_centres(kRows), actual_sums(kRows);
      float carried = 0;
      for (std::int64_t row = 0; row < kRows; row += kRowsAtOnce) {
        const auto rows = std::min(kRowsAtOnce, kRows - row);
        loop({.rows = rows,
              .n = n,
              .a = a.data() + row * (n + kGap),
              .step = (n + kGap) * 4,
              .next_tile = rows * (n + kGap) * 4,
              .divisor = divisor,
              .carried = &carried,
              .starts = row == 0,
              .ends = row + rows == kRows,
              .y = stores ? actual.data() + row * n : nullptr,
              .centres = actual_centres.data() + row,
              .results = actual_sums.data() + row});
      }
      expect_same(actual_centres, centres, "centres");
      is_exp && !stores ? expect_close(actual_sums, sums) : expect_same(actual_sums, sums, "sums");
      if (stores) expect_same(actual, y, "values");
    }
  }

  static void expect_same(const std::vector<float>& actual, const std::vector<float>& expected, const char* what) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const bool is_same = std::bit_cast<std::uint32_t>(actual[i]) == std::bit_cast<std::uint32_t>(expected[i]);
      ASSERT_TRUE(is_same || (std::isnan(actual[i]) && std::isnan(expected[i])))
          << what << " at " << i << ": " << actual[i] << " instead of " << expected[i];
    }
  }

  static void expect_close(const std::vector<float>& actual, const std::vector<float>& expected) {
    constexpr float kMost = 2.5e-7f;  // two bits
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (std::isfinite(expected[i])) {
        ASSERT_NEAR(actual[i], expected[i], kMost * std::abs(expected[i])) << "sums at " << i;
      } else {
        expect_same({actual[i]}, {expected[i]}, "sums");
      }
    }
  }

  void SetUp() override {
    if (!runs_v3()) GTEST_SKIP() << "no wide vectors here";
  }
};

TEST_P(CentredSums, AreThoseOfTheParts) {
  const auto a = numbers(kRows * (GetParam() + kGap), 1);
  check(Centre::largest, a);
  check(Centre::mean, a);
}

TEST_P(CentredSums, AreThoseOfThePartsForNumbersFarApart) {
  auto a = numbers(kRows * (GetParam() + kGap), 2);
  for (auto& x : a) x *= 40;  // some exps are subnormal, some 0
  check(Centre::largest, a);
  for (auto& x : a) x *= 1e17f;
  check(Centre::largest, a);
  check(Centre::mean, a);
}

// Each in another row, at its beginning, its end, and in between.
TEST_P(CentredSums, AreThoseOfThePartsForWhatIsNoOrdinaryNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const std::int64_t n = GetParam();
  for (const float special : {kNan, kInfinity, -kInfinity, -0.0f}) {
    for (const std::int64_t at : {std::int64_t{0}, n / 2, n - 1}) {
      for (std::int64_t row = 0; row < kRows; ++row) {
        auto a = numbers(kRows * (n + kGap), 3);
        a[static_cast<std::size_t>(row * (n + kGap) + at)] = special;
        check(Centre::largest, a);
        check(Centre::mean, a);
      }
    }
  }
}

TEST_P(CentredSums, AreThoseOfThePartsForRowsOfOneNumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  const auto n = static_cast<std::size_t>(GetParam());
  for (const float number : {kNan, kInfinity, -kInfinity, 0.0f, -0.0f, 3.0f}) {
    std::vector<float> a(kRows * (n + kGap), number);
    check(Centre::largest, a);
    for (std::size_t i = 0; i < a.size(); i += 3) a[i] = -number;
    check(Centre::largest, a);
    check(Centre::mean, a);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, CentredSums, ::testing::Values(1, 31, 32, 33, 63, 64, 97, 300, 1024, 4096, 4129, 9000));

}  // namespace
}  // namespace burn::testing
