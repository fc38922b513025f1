// Counter-based random numbers: Philox4x32-10 of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC
// 2011).
//
// Element i of a Random op is lane i % 4 of block (run offset + op offset + i / 4), whatever computes it and in
// whatever order: uniform_block and normal_block give the four elements of a block. Normals agree between backends up
// to the rounding of their log, sin and cos; uniforms agree in every bit. Pure functions, which NVRTC reads, too
// (ir/semantics/device.h).
#pragma once

#include "ir/semantics/device.h"

namespace burn::ir {

// What std::array would be.
template <typename T>
struct Block {
  T lanes[4];

  constexpr T& operator[](std::size_t i) { return lanes[i]; }
  constexpr const T& operator[](std::size_t i) const { return lanes[i]; }
  constexpr T* begin() { return lanes; }
  constexpr T* end() { return lanes + 4; }
  constexpr const T* begin() const { return lanes; }
  constexpr const T* end() const { return lanes + 4; }
  friend constexpr bool operator==(const Block&, const Block&) = default;
};
using Lanes = Block<std::uint32_t>;
struct PhiloxKey {
  std::uint32_t low, high;
};

// The generator itself: ten rounds over a 128-bit counter with a 64-bit key, words from the lowest.
constexpr Lanes philox4x32(Lanes counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key.low, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key.high, static_cast<std::uint32_t>(a)};
    key.low += 0x9E3779B9;
    key.high += 0xBB67AE85;
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
inline Block<std::uint64_t> bits_block(std::uint64_t seed, std::uint64_t block) {
  const Lanes upper = philox(seed, block), lower = philox(seed, block, 1);
  Block<std::uint64_t> out;
  for (std::size_t i = 0; i < 4; ++i) out[i] = std::uint64_t{upper[i]} << 32 | lower[i];
  return out;
}

// As many of the upper bits as the significand holds, so that rounding never gives 1.
inline float uniform_from_bits(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
inline double uniform_from_bits(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// Four numbers in [0, 1). T: float or double.
template <typename T>
Block<T> uniform_block(std::uint64_t seed, std::uint64_t block) {
  Block<T> out;
  if constexpr (std::is_same_v<T, double>) {
    const auto bits = bits_block(seed, block);
    for (std::size_t i = 0; i < 4; ++i) out[i] = uniform_from_bits(bits[i]);
  } else {
    const auto bits = philox(seed, block);
    for (std::size_t i = 0; i < 4; ++i) out[i] = uniform_from_bits(bits[i]);
  }
  return out;
}

// Four numbers of mean 0 and deviation 1, by Box and Muller: lanes 0 and 1 give elements 0 and 1, lanes 2 and 3 the
// others. T: float or double.
template <typename Real>
Block<Real> normal_block(std::uint64_t seed, std::uint64_t block) {
  const Lanes bits = philox(seed, block);
  const auto angles = uniform_block<Real>(seed, block);
  Block<Real> out;
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

// Fn: RandomFn.
template <typename T, typename Fn>
Block<T> random_block(Fn fn, std::uint64_t seed, std::uint64_t block) {
  if constexpr (std::is_same_v<T, std::uint64_t>)
    return bits_block(seed, block);
  else
    return fn == Fn::uniform ? uniform_block<T>(seed, block) : normal_block<T>(seed, block);
}

}  // namespace burn::ir
