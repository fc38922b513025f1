// Elimination in vectors: factors and solutions put together again, in double, for sizes with and without full panels
// and vectors.
#include "backends/cpu/simd/elimination.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace burn::backends::cpu {
namespace {

template <typename T>
std::vector<T> random_numbers(std::int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> numbers(-1, 1);
  std::vector<T> x(static_cast<std::size_t>(n));
  for (auto& v : x) v = static_cast<T>(numbers(random));
  return x;
}

template <typename T>
void expect_factors(std::int64_t rows, std::int64_t columns, double bound) {
  SCOPED_TRACE(testing::Message() << rows << " x " << columns);
  const auto least = std::min(rows, columns);
  const auto before = random_numbers<T>(rows * columns, 1);
  auto a = before;
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(least));
  ASSERT_EQ(elimination<T>().eliminate(rows, columns, a.data(), pivots.data(), 0, nullptr), 0);
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < rows; ++i) order.push_back(i);
  for (std::size_t k = 0; k < pivots.size(); ++k) std::swap(order[k], order[static_cast<std::size_t>(pivots[k] - 1)]);
  const auto at = [&](std::int64_t i, std::int64_t j) { return double(a[static_cast<std::size_t>(i * columns + j)]); };
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      double product = i <= j ? at(i, j) : 0;
      for (std::int64_t k = 0; k < std::min({i, j + 1, least}); ++k) product += at(i, k) * at(k, j);
      if (j < i && j < least) {
        ASSERT_LE(std::abs(at(i, j)), 1) << "a pivot was not the largest";
      }
      const auto expected = double(before[static_cast<std::size_t>(order[static_cast<std::size_t>(i)] * columns + j)]);
      ASSERT_NEAR(product, expected, bound * std::sqrt(static_cast<double>(least))) << "at " << i << ", " << j;
    }
  }
}

TEST(Elimination, FactorsMakeTheMatrix) {
  for (const std::int64_t n : {1, 2, 3, 7, 15, 16, 17, 31, 33, 48, 64, 100, 131}) {
    expect_factors<float>(n, n, 3e-6);
    expect_factors<double>(n, n, 1e-14);
  }
  for (const auto& [rows, columns] : {std::pair{3, 40}, {40, 3}, {70, 33}, {33, 70}, {1, 9}, {9, 1}}) {
    expect_factors<float>(rows, columns, 3e-6);
    expect_factors<double>(rows, columns, 1e-14);
  }
}

// a x = b, with a diagonal that keeps it far from singular.
template <typename T>
void expect_solution(std::int64_t n, std::int64_t sides, double bound) {
  SCOPED_TRACE(testing::Message() << n << ", " << sides << " sides");
  auto before = random_numbers<T>(n * n, 2);
  for (std::int64_t i = 0; i < n; ++i) before[static_cast<std::size_t>(i * n + (i + 1) % n)] += static_cast<T>(n);
  const auto b = random_numbers<T>(n * sides, 3);
  auto a = before;
  auto x = b;
  std::vector<std::int32_t> pivots(static_cast<std::size_t>(n));
  ASSERT_EQ(elimination<T>().eliminate(n, n, a.data(), pivots.data(), sides, x.data()), 0);
  elimination<T>().substitute(n, a.data(), sides, x.data());
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t c = 0; c < sides; ++c) {
      double sum = 0;
      for (std::int64_t j = 0; j < n; ++j)
        sum += double(before[static_cast<std::size_t>(i * n + j)]) * double(x[static_cast<std::size_t>(j * sides + c)]);
      ASSERT_NEAR(sum, double(b[static_cast<std::size_t>(i * sides + c)]), bound) << "at " << i << ", " << c;
    }
  }
}

TEST(Elimination, SolvesSystems) {
  for (const std::int64_t n : {1, 2, 5, 16, 17, 40, 97, 128}) {
    for (const std::int64_t sides : {1, 2, 16, 21, 50}) {
      expect_solution<float>(n, sides, 1e-5);
      expect_solution<double>(n, sides, 1e-13);
    }
  }
}

TEST(Elimination, NamesTheFirstPivotThatIsZero) {
  constexpr std::int64_t kSize = 40;
  for (const std::int64_t zero : {0, 7, 16, 39}) {  // a column that is nothing: its pivot is exactly 0
    auto a = random_numbers<float>(kSize * kSize, 4);
    for (std::int64_t i = 0; i < kSize; ++i) a[static_cast<std::size_t>(i * kSize + zero)] = 0;
    std::vector<std::int32_t> pivots(kSize);
    EXPECT_EQ(elimination<float>().eliminate(kSize, kSize, a.data(), pivots.data(), 0, nullptr), zero + 1);
  }
}

}  // namespace
}  // namespace burn::backends::cpu
