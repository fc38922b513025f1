// Products of 16-bit floats as they are, by oneDNN and by tiles of our own, which are otherwise chosen by timing alone:
// against sums in double.
#include "backends/cpu/kernels/half_products.h"

#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "backends/cpu/kernels/dot_products.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/interrupt.h"
#include "base/half.h"
#include "tests/backends/guarded_array.h"

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
  for (const auto cut : {HalfSplit::rows, HalfSplit::columns, HalfSplit::both}) {
    for (const Case& c : {Case{300, 280, 64}, Case{257, 130, 500, false, true, 2}})
      expect_product(
          c, [cut](cpu::Run& run, const HalfProduct& p) { return multiply_half(run, ir::DType::bf16, p, cut); });
  }
}

class ProductsByTiles : public testing::Test {
 protected:
  void SetUp() override {
    if (dot_tiles<std::uint16_t>().empty())
      GTEST_SKIP() << "this processor has no instructions for bf16, or BURN_ISA leaves them out";
  }
  static HalfProduct square(std::int64_t size, const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* c) {
    return {.m = size, .n = size, .k = size, .a = {a, size, false}, .b = {b, size, false}, .c = c, .c_stride = size};
  }
};

TEST_F(ProductsByTiles, AreThoseOfAnyInstructionsThatThisMachineHas) {
  for (const auto& tiles : dot_tiles<std::uint16_t>()) {
    SCOPED_TRACE(tiles.name);
    const auto by_tiles = [&](cpu::Run&, const HalfProduct& p) { return multiply_by_tiles(tiles, p); };
    for (const auto& c : kCases) expect_product(c, by_tiles);
    for (const auto depth : {1, 2, 31, 32, 33, 64}) expect_product({31, 32, depth, false, false, 1}, by_tiles);
    // More than the sums of one piece of the depth, and more than one task.
    expect_product({70, 65, 2100, false, true}, by_tiles);
    expect_product({300, 290, 1030, true, false, 2}, by_tiles);
  }
}

TEST_F(ProductsByTiles, OfAnySizesAndStrides) {
  std::mt19937 random(7);
  const auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(end)); };
  for (int i = 0; i < 60; ++i) {
    const Case c{1 + below(150), 1 + below(150), 1 + below(150), below(2) == 1, below(2) == 1, below(4)};
    for (const auto& tiles : dot_tiles<std::uint16_t>()) {
      SCOPED_TRACE(tiles.name);
      expect_product(c, [&](cpu::Run&, const HalfProduct& p) { return multiply_by_tiles(tiles, p); });
    }
  }
}

// More rows than are packed at once, more than a cell has each way, and a depth in pieces; also by one thread alone, as
// the products of a batch are.
TEST_F(ProductsByTiles, OfMoreThanIsPackedAtOnce) {
  for (const auto& tiles : dot_tiles<std::uint16_t>()) {
    SCOPED_TRACE(tiles.name);
    const auto by_tiles = [&](cpu::Run&, const HalfProduct& p) { return multiply_by_tiles(tiles, p); };
    for (const Case& c : {Case{600, 550, 40}, Case{290, 30, 1030, false, true}}) {
      expect_product(c, by_tiles);
      parallel_for(2, 1, [&](std::int64_t begin, std::int64_t) {
        if (begin == 0) expect_product(c, by_tiles);
      });
    }
  }
}

using GuardedArray = backends::GuardedArray<std::uint16_t>;

std::uint16_t bits_of_number(std::int64_t i) { return BFloat16(number(i)).bits; }

TEST_F(ProductsByTiles, ReadAndWriteNothingBehindTheMatrices) {
  for (const auto& [m, n, k] : {std::array<std::int64_t, 3>{17, 23, 35}, {1, 1, 1}, {33, 50, 31}, {70, 15, 66}}) {
    for (const bool a_transposed : {false, true}) {
      for (const bool b_transposed : {false, true}) {
        const GuardedArray a(m * k, bits_of_number), b(k * n, bits_of_number), c(m * n, bits_of_number);
        for (const auto& tiles : dot_tiles<std::uint16_t>()) {
          ASSERT_TRUE(multiply_by_tiles(tiles, HalfProduct{.m = m,
                                                           .n = n,
                                                           .k = k,
                                                           .a = {a.data, a_transposed ? m : k, a_transposed},
                                                           .b = {b.data, b_transposed ? k : n, b_transposed},
                                                           .c = c.data,
                                                           .c_stride = n})
                          .ok());
        }
      }
    }
  }
}

TEST_F(ProductsByTiles, ThatAreInterruptedLeaveTheNextOnesAlone) {
  for (const auto& tiles : dot_tiles<std::uint16_t>()) {
    SCOPED_TRACE(tiles.name);
    const auto by_tiles = [&](cpu::Run&, const HalfProduct& p) { return multiply_by_tiles(tiles, p); };
    constexpr std::size_t kSize = 2000;
    const std::vector<std::uint16_t> ones(kSize * kSize, BFloat16(1).bits);
    std::vector<std::uint16_t> y(kSize * kSize);
    const auto p = square(kSize, ones.data(), ones.data(), y.data());
    Interrupt interrupt;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      interrupt.request();
    });
    {
      const InterruptScope scope(&interrupt);
      EXPECT_THROW(
          {
            while (multiply_by_tiles(tiles, p).ok()) {
            }
          },
          Interrupted);
    }
    other.join();
    for (const auto& c : kCases) expect_product(c, by_tiles);
  }
}

TEST_F(ProductsByTiles, KeepInfinityAndNan) {
  constexpr std::int64_t kSize = 40;
  const auto bits = [](float x) { return BFloat16(x).bits; };
  std::vector<std::uint16_t> a(kSize * kSize, bits(1)), b(kSize * kSize, bits(2)), y(kSize * kSize);
  a[3 * kSize + 5] = bits(INFINITY);
  a[7 * kSize] = bits(NAN);
  a[9 * kSize] = bits(INFINITY), a[9 * kSize + 1] = bits(-INFINITY);
  for (const auto& tiles : dot_tiles<std::uint16_t>()) {
    SCOPED_TRACE(tiles.name);
    ASSERT_TRUE(multiply_by_tiles(tiles, square(kSize, a.data(), b.data(), y.data())).ok());
    const auto at = [&](std::int64_t i) {
      BFloat16 x;
      x.bits = y[static_cast<std::size_t>(i * kSize + 39)];
      return static_cast<float>(x);
    };
    EXPECT_EQ(at(0), 2 * kSize);
    EXPECT_EQ(at(3), INFINITY);
    EXPECT_TRUE(std::isnan(at(7)));
    EXPECT_TRUE(std::isnan(at(9)));
  }
}

TEST(HalfProductsOf, NoOtherType) { EXPECT_FALSE(has_half_products(ir::DType::f32)); }

}  // namespace
}  // namespace burn::backends::cpu
