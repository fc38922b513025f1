// The two 16-bit floats as storage types: conversion to and from float, round to nearest even. Arithmetic is done in
// float.
#pragma once

#include <bit>
#include <cstdint>

namespace burn {

// bfloat16: the upper half of a float.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) {
    const auto u = std::bit_cast<std::uint32_t>(value);
    if ((u & 0x7fffffffu) > 0x7f800000u) {  // NaN stays NaN: rounding could carry it into infinity
      bits = static_cast<std::uint16_t>((u >> 16) | 0x40u);
    } else {
      bits = static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }
  }
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
};

// IEEE 754 binary16. _Float16 converts in hardware with F16C, and otherwise in the compiler's library.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) : bits(std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))) {}
  explicit operator float() const { return static_cast<float>(std::bit_cast<_Float16>(bits)); }
};

static_assert(sizeof(BFloat16) == 2 && sizeof(Half) == 2);

}  // namespace burn
