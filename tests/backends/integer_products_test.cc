// Products of integers of every width against sums one by one: sizes around those of panels and of the rows that are
// computed at once, with room between rows, on every instruction set (tests/backends/CMakeLists.txt).
#include "backends/cpu/kernels/integer_products.h"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

template <typename T>
struct Numbers {
  std::vector<T> data;
  Matrix<T> matrix;

  Numbers(std::int64_t rows, std::int64_t columns, std::int64_t gap, std::mt19937_64& bits)
      : data(static_cast<std::size_t>(rows * (columns + gap))) {
    for (auto& number : data) number = static_cast<T>(bits());
    matrix = {data.data(), columns + gap, false};
  }
  const T& at(std::int64_t i, std::int64_t j) const { return matrix.data[i * matrix.stride + j]; }
};

template <typename T>
class IntegerProducts : public ::testing::Test {
 protected:
  static void expect_product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t gap = 0) {
    SCOPED_TRACE(::testing::Message() << m << " x " << n << " x " << k << ", gap " << gap);
    std::mt19937_64 bits(static_cast<std::uint64_t>(m * 1000 + n * 10 + k));
    const Numbers<T> a(m, k, gap, bits), b(k, n, gap, bits);
    Numbers<T> c(m, n, gap, bits);
    const auto before = c.data;
    multiply_integers(Product<T>{
        .m = m, .n = n, .k = k, .a = a.matrix, .b = b.matrix, .c = c.data.data(), .c_stride = c.matrix.stride});
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n + gap; ++j) {
        std::uint64_t sum = 0;
        for (std::int64_t d = 0; d < k && j < n; ++d)
          sum += static_cast<std::uint64_t>(a.at(i, d)) * static_cast<std::uint64_t>(b.at(d, j));
        const auto expected = j < n ? static_cast<T>(sum) : before[static_cast<std::size_t>(i * c.matrix.stride + j)];
        ASSERT_EQ(c.at(i, j), expected) << "at " << i << ", " << j;
      }
    }
  }
};

using Widths = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(IntegerProducts, Widths);

TYPED_TEST(IntegerProducts, AreSumsOfProductsModuloTheirWidth) {
  for (const std::int64_t m : {1, 2, 7, 8, 9, 65})
    for (const std::int64_t n : {1, 4, 15, 16, 17, 64, 70})
      for (const std::int64_t k : {1, 5, 128, 131}) TestFixture::expect_product(m, n, k);
}

TYPED_TEST(IntegerProducts, OfSeveralPanelsAddUp) { TestFixture::expect_product(130, 150, 300); }

TYPED_TEST(IntegerProducts, LeaveWhatIsBetweenRowsAlone) { TestFixture::expect_product(11, 66, 40, 3); }

TYPED_TEST(IntegerProducts, EndWhenTheirRunIsToEnd) {
  using T = TypeParam;
  constexpr std::int64_t kSize = 4096;
  const std::vector<T> numbers(kSize * 64, T{3});
  std::vector<T> c(kSize * kSize);
  Interrupt interrupt;
  interrupt.request();
  const InterruptScope scope(&interrupt);
  EXPECT_THROW(multiply_integers(Product<T>{.m = kSize,
                                            .n = kSize,
                                            .k = 64,
                                            .a = {numbers.data(), 64, false},
                                            .b = {numbers.data(), kSize, false},
                                            .c = c.data(),
                                            .c_stride = kSize}),
               Interrupted);
}

}  // namespace
}  // namespace burn::backends::cpu
