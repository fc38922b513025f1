// Products of f32 by tiles of our own, which are otherwise chosen by timing alone: of any sizes, against sums in
// double, and the same on any number of threads.
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/kernels/dot_products.h"
#include "backends/cpu/runtime/parallel.h"
#include "tests/backends/guarded_array.h"

namespace burn::backends::cpu {
namespace {

using GuardedArray = backends::GuardedArray<float>;

float number(std::int64_t i) { return std::sin(0.37f * static_cast<float>(i % 1013)); }

struct Case {
  std::int64_t m, n, k;
  bool a_transposed = false, b_transposed = false;
  std::int64_t gap = 0;
};

// Elements from the first to the last of a matrix; there is no gap after the last line.
std::int64_t extent(std::int64_t lines, std::int64_t length, std::int64_t gap) { return lines * (length + gap) - gap; }

class ProductsOfFloatsByTiles : public testing::Test {
 protected:
  void SetUp() override {
    if (dot_tiles<float>().empty()) GTEST_SKIP() << "this processor has no AVX-512, or BURN_ISA leaves it out";
  }

  static void multiply(const Product<float>& p) {
    const auto status = multiply_by_tiles(dot_tiles<float>().front(), p);
    ASSERT_TRUE(status.ok()) << status.to_string();
  }

  static void expect_product(const Case& c) {
    SCOPED_TRACE(testing::Message() << c.m << " x " << c.n << " x " << c.k << (c.a_transposed ? ", a transposed" : "")
                                    << (c.b_transposed ? ", b transposed" : "") << ", gap " << c.gap);
    const auto a_lines = c.a_transposed ? c.k : c.m, a_length = c.a_transposed ? c.m : c.k;
    const auto b_lines = c.b_transposed ? c.n : c.k, b_length = c.b_transposed ? c.k : c.n;
    const GuardedArray a(extent(a_lines, a_length, c.gap), number), b(extent(b_lines, b_length, c.gap), number);
    const GuardedArray y(extent(c.m, c.n, c.gap), number);
    const auto before = y.values();
    const Product<float> p{.m = c.m,
                           .n = c.n,
                           .k = c.k,
                           .a = {a.data, a_length + c.gap, c.a_transposed},
                           .b = {b.data, b_length + c.gap, c.b_transposed},
                           .c = y.data,
                           .c_stride = c.n + c.gap};
    multiply(p);
    const auto at = [](const Matrix<float>& x, std::int64_t i, std::int64_t j) {
      return static_cast<double>(x.data[x.transposed ? j * x.stride + i : i * x.stride + j]);
    };
    for (std::int64_t i = 0; i < c.m; ++i) {
      for (std::int64_t j = 0; j < c.n; ++j) {
        double expected = 0, size = 0;
        for (std::int64_t k = 0; k < c.k; ++k) {
          expected += at(p.a, i, k) * at(p.b, k, j);
          size += std::abs(at(p.a, i, k) * at(p.b, k, j));
        }
        ASSERT_NEAR(p.c[i * p.c_stride + j], expected, size * 2e-6 + 1e-30) << "at " << i << ", " << j;
      }
      for (std::int64_t j = c.n; j < p.c_stride && i + 1 < c.m; ++j) {
        const auto place = i * p.c_stride + j;
        ASSERT_EQ(p.c[place], before[static_cast<std::size_t>(place)]) << "written beside the result, row " << i;
      }
    }
    const auto by_all = y.values();
    parallel_for_each(2, [&](std::int64_t begin, std::int64_t) {
      if (begin == 0) multiply(p);
    });
    EXPECT_EQ(y.values(), by_all) << "one thread alone adds up otherwise";
  }
};

TEST_F(ProductsOfFloatsByTiles, OfAnySizesAndStrides) {
  std::mt19937 random(7);
  const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(end)); };
  for (int i = 0; i < 80; ++i)
    expect_product({1 + below(150), 1 + below(150), 1 + below(150), below(2) == 1, below(2) == 1, below(4)});
  for (const auto depth : {1, 15, 16, 17, 255, 256, 257, 272, 513}) {
    expect_product({32, 32, depth});
    expect_product({40, 33, depth, true, true, 1});
  }
}

// More than is packed at once each way, more cells than one, and a depth in pieces.
TEST_F(ProductsOfFloatsByTiles, OfMoreThanIsPackedAtOnce) {
  for (const Case& c :
       {Case{600, 550, 40}, Case{290, 30, 1030, false, true}, Case{70, 300, 2100, true}, Case{8, 900, 1024}})
    expect_product(c);
}

TEST_F(ProductsOfFloatsByTiles, KeepInfinityAndNanInTheirRows) {
  constexpr std::int64_t kSize = 40;
  constexpr float kInfinity = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> a(kSize * kSize, 1), b(kSize * kSize, 2), y(kSize * kSize);
  a[3 * kSize + 39] = kInfinity;
  a[7 * kSize] = kNan;
  a[9 * kSize] = kInfinity, a[9 * kSize + 1] = -kInfinity;
  for (const bool transposed : {false, true}) {
    multiply({.m = kSize,
              .n = kSize,
              .k = kSize,
              .a = {a.data(), kSize, false},
              .b = {b.data(), kSize, transposed},
              .c = y.data(),
              .c_stride = kSize});
    const auto at = [&](std::size_t i) { return y[i * kSize + 39]; };
    EXPECT_EQ(at(0), 2 * kSize);
    EXPECT_EQ(at(3), kInfinity);
    EXPECT_TRUE(std::isnan(at(7)));
    EXPECT_TRUE(std::isnan(at(9)));
    EXPECT_EQ(at(39), 2 * kSize);
  }
}

TEST(ParallelForEach, CallsForEveryItemOnce) {
  for (const std::int64_t n : {0, 1, 2, 7, 200}) {
    std::vector<int> calls(static_cast<std::size_t>(n));
    parallel_for_each(n, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) ++calls[static_cast<std::size_t>(i)];
    });
    EXPECT_EQ(calls, std::vector<int>(static_cast<std::size_t>(n), 1));
  }
}

}  // namespace
}  // namespace burn::backends::cpu
