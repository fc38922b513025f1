// Where an element of [n, c, depth, height, width] is, from its number in row-major order. NVRTC only.
#pragma once

#include "ir/semantics/device.h"

namespace burn::cuda {

// `rest` % size, and `rest` becomes the quotient. Division of 32-bit numbers is several times as fast.
BURN_ALWAYS_INLINE std::int64_t take_dim(std::int64_t& rest, std::int64_t size) {
  if ((rest | size) >> 31 == 0) {
    const auto small = static_cast<std::uint32_t>(rest), quotient = small / static_cast<std::uint32_t>(size);
    rest = quotient;
    return small - quotient * static_cast<std::uint32_t>(size);
  }
  const auto quotient = rest / size, at = rest - quotient * size;
  rest = quotient;
  return at;
}

struct Place {
  std::int64_t n, c, at[3];
};

BURN_ALWAYS_INLINE Place place_of(std::int64_t i, std::int64_t channels, std::int64_t depth, std::int64_t height,
                                  std::int64_t width) {
  Place place;
  place.at[2] = take_dim(i, width);
  place.at[1] = take_dim(i, height);
  place.at[0] = take_dim(i, depth);
  place.c = take_dim(i, channels);
  place.n = i;
  return place;
}

}  // namespace burn::cuda
