// Products of 16-bit floats by oneDNN as they are, which are otherwise chosen by timing alone: against sums in double.
#include "backends/cpu/ops/half_products.h"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "base/half.h"

namespace burn::backends::cpu {
namespace {

float number(std::int64_t i) { return std::sin(0.37f * static_cast<float>(i % 1013)); }

// A matrix of bf16 with room between its rows, or columns.
struct Bits {
  std::vector<BFloat16> data;
  Matrix<std::uint16_t> matrix;
  std::int64_t rows, columns;

  Bits(std::int64_t r, std::int64_t c, bool transposed, std::int64_t gap) : rows(r), columns(c) {
    const auto lines = transposed ? c : r, length = (transposed ? r : c) + gap;
    for (std::int64_t i = 0; i < lines * length; ++i) data.push_back(BFloat16(number(7 * i + r)));
    matrix = {reinterpret_cast<const std::uint16_t*>(data.data()), length, transposed};
  }
  double at(std::int64_t i, std::int64_t j) const {
    const auto place = matrix.transposed ? j * matrix.stride + i : i * matrix.stride + j;
    return static_cast<double>(static_cast<float>(data[static_cast<std::size_t>(place)]));
  }
};

struct Case {
  std::int64_t m, n, k;
  bool a_transposed = false, b_transposed = false;
  std::int64_t gap = 0;
};

void expect_product(const Case& c, const std::function<Status(Run&, const HalfProduct&)>& multiply) {
  SCOPED_TRACE(testing::Message() << c.m << " x " << c.n << " x " << c.k << (c.a_transposed ? ", a transposed" : "")
                                  << (c.b_transposed ? ", b transposed" : "") << ", gap " << c.gap);
  const auto pool = std::make_shared<Pool>(Pool::Config{});
  Run run{*pool, {}};
  const Bits a(c.m, c.k, c.a_transposed, c.gap), b(c.k, c.n, c.b_transposed, c.gap);
  const auto stride = c.n + c.gap;
  std::vector<BFloat16> y(static_cast<std::size_t>(c.m * stride), BFloat16(77));
  const auto status = multiply(run, {.m = c.m,
                                     .n = c.n,
                                     .k = c.k,
                                     .a = a.matrix,
                                     .b = b.matrix,
                                     .c = reinterpret_cast<std::uint16_t*>(y.data()),
                                     .c_stride = stride});
  ASSERT_TRUE(status.ok()) << status.to_string();
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < stride; ++j) {
      const auto actual = static_cast<float>(y[static_cast<std::size_t>(i * stride + j)]);
      if (j >= c.n) {
        ASSERT_EQ(actual, 77) << "written beside the result, at " << i << ", " << j;
        continue;
      }
      double expected = 0, size = 0;
      for (std::int64_t k = 0; k < c.k; ++k) {
        expected += a.at(i, k) * b.at(k, j);
        size += std::abs(a.at(i, k) * b.at(k, j));
      }
      // Rounded once to 8 bits, after a sum in f32: one in bf16 would be off by far more.
      ASSERT_NEAR(actual, expected, std::abs(expected) / 256 + size * 2e-6) << "at " << i << ", " << j;
    }
  }
}

constexpr Case kCases[] = {{64, 64, 64},
                           {1, 90, 300},
                           {33, 1, 70},
                           {130, 70, 513},
                           {130, 70, 65, true, false, 3},
                           {130, 70, 65, false, true, 5},
                           {47, 161, 1000, true, true, 0}};

class HalfProducts : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_half_products(ir::DType::bf16)) GTEST_SKIP() << "oneDNN has no kernels for bf16 here";
  }
};

TEST_F(HalfProducts, OnOneThread) {
  for (const auto& c : kCases)
    expect_product(c, [](cpu::Run& run, const HalfProduct& p) { return multiply_half_here(run, ir::DType::bf16, p); });
}

TEST_F(HalfProducts, InBandsOfRowsAndOfColumns) {
  for (const auto cut : {HalfCut::rows, HalfCut::columns, HalfCut::both}) {
    for (const Case& c : {Case{300, 280, 64}, Case{257, 130, 500, false, true, 2}})
      expect_product(
          c, [cut](cpu::Run& run, const HalfProduct& p) { return multiply_half(run, ir::DType::bf16, p, cut); });
  }
}

TEST(HalfProductsOf, NoOtherType) { EXPECT_FALSE(has_half_products(ir::DType::f32)); }

}  // namespace
}  // namespace burn::backends::cpu
