#include "backends/cpu/kernels/fft_division.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>

namespace burn::backends::cpu {
namespace {

std::int64_t largest_prime_factor(std::int64_t n) {
  std::int64_t largest = 1;
  for (std::int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return std::max(largest, n);
}

}  // namespace

Angle root_of_unity(std::int64_t part, std::int64_t whole) {
  const auto eighth = static_cast<int>(8 * static_cast<double>(part) / static_cast<double>(whole));
  const double turn = 2 * std::numbers::pi / static_cast<double>(whole);
  const auto at = [&](std::int64_t p) { return turn * static_cast<double>(p); };
  const auto quarters = [&](std::int64_t q) {  // how far past (or before) q quarters, in units of 1 / (4 whole)
    return (4 * static_cast<double>(part) - static_cast<double>(q) * static_cast<double>(whole)) * turn / 4;
  };
  switch (eighth) {
    case 0:
      return {std::cos(at(part)), -std::sin(at(part))};
    case 1:
    case 2:
      return {-std::sin(quarters(1)), -std::cos(quarters(1))};
    case 3:
    case 4:
      return {-std::cos(quarters(2)), std::sin(quarters(2))};
    case 5:
    case 6:
      return {std::sin(quarters(3)), std::cos(quarters(3))};
    default:
      return {std::cos(at(whole - part)), std::sin(at(whole - part))};
  }
}

std::int64_t next_factor(std::int64_t n) {
  if (n % 8 == 0 && n != 16) return 8;
  if (n % 4 == 0) return 4;
  std::int64_t factor = 2;
  while (n % factor != 0) ++factor;
  return factor;
}

std::int64_t rows_of_matrix(std::int64_t n) {
  constexpr std::int64_t kLeast = 256, kVector = 16;
  if (n < kLeast) return 0;
  std::int64_t best = 0, left_over = kVector * kVector;
  for (std::int64_t rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n))); rows >= kVector / 2; --rows) {
    if (n % rows != 0) continue;
    const auto rest = std::max(rows % kVector, n / rows % kVector);
    if (rest < left_over) best = rows;
    left_over = std::min(left_over, rest);
    if (left_over == 0 || rows * 8 < n / rows) break;
  }
  return best;
}

std::int64_t convolution_length(std::int64_t n) {
  constexpr std::int64_t kLargestFactor = 31;
  if (largest_prime_factor(n) <= kLargestFactor) return 0;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n - 1)));
}

}  // namespace burn::backends::cpu
