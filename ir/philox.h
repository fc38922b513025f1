// Counter-based random numbers: Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC
// 2011).
//
// Element i of a Random op is lane i % 4 of block (run offset + op offset + i / 4), whatever computes it and in
// whatever order: uniform_block and normal_block give the four elements of a block. Normals agree between backends up
// to the rounding of their log, sin and cos; uniforms agree in every bit. Pure functions.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>

#include "ir/ops.h"

namespace burn::ir {

using Lanes = std::array<std::uint32_t, 4>;

// The generator itself: ten rounds over a 128-bit counter with a 64-bit key, words from the lowest.
constexpr Lanes philox4x32(Lanes counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// The 32 random bits of each element of a block. `plane` 1 has the lower bits of numbers that need more than 32.
constexpr Lanes philox(std::uint64_t seed, std::uint64_t block, std::uint32_t plane = 0) {
  return philox4x32({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), plane, 0},
                    {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

// The types that numbers are drawn in. Others are converted from them: a number of 8 or 11 bits is no measure of a
// probability.
template <typename T>
inline constexpr bool kIsDrawn =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::uint64_t>;

// Four numbers of which every bit is as likely 0 as 1.
inline std::array<std::uint64_t, 4> bits_block(std::uint64_t seed, std::uint64_t block) {
  const Lanes upper = philox(seed, block), lower = philox(seed, block, 1);
  std::array<std::uint64_t, 4> out;
  for (std::size_t i = 0; i < 4; ++i) out[i] = std::uint64_t{upper[i]} << 32 | lower[i];
  return out;
}

// As many of the upper bits as the significand holds, so that rounding never gives 1.
inline float uniform_from_bits(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
inline double uniform_from_bits(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// Four numbers in [0, 1). T: float or double.
template <typename T>
std::array<T, 4> uniform_block(std::uint64_t seed, std::uint64_t block) {
  std::array<T, 4> out;
  if constexpr (std::is_same_v<T, double>) {
    std::ranges::transform(bits_block(seed, block), out.begin(), [](std::uint64_t x) { return uniform_from_bits(x); });
  } else {
    std::ranges::transform(philox(seed, block), out.begin(), [](std::uint32_t x) { return uniform_from_bits(x); });
  }
  return out;
}

// Four numbers of mean 0 and deviation 1, by Box and Muller: lanes 0 and 1 give elements 0 and 1, lanes 2 and 3 the
// others. T: float or double.
template <typename Real>
std::array<Real, 4> normal_block(std::uint64_t seed, std::uint64_t block) {
  const Lanes bits = philox(seed, block);
  const auto angles = uniform_block<Real>(seed, block);
  std::array<Real, 4> out;
  for (std::size_t i = 0; i < 4; i += 2) {
    // In (0, 1], and never 0, whose logarithm is infinite.
    const Real u = (static_cast<Real>(bits[i]) + Real{1}) * Real{0x1p-32};
    const Real radius = std::sqrt(Real{-2} * std::log(u));
    const Real angle = Real{2} * std::numbers::pi_v<Real> * angles[i + 1];
    out[i] = radius * std::cos(angle);
    out[i + 1] = radius * std::sin(angle);
  }
  return out;
}

template <typename T>
std::array<T, 4> random_block(RandomFn fn, std::uint64_t seed, std::uint64_t block) {
  if constexpr (std::is_same_v<T, std::uint64_t>)
    return bits_block(seed, block);
  else
    return fn == RandomFn::uniform ? uniform_block<T>(seed, block) : normal_block<T>(seed, block);
}

}  // namespace burn::ir
