// Numbers that tests of loops compute with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace burn::testing {

// n numbers of both signs with magnitudes of about 4 at most; equal for equal salts.
inline std::vector<float> numbers(std::int64_t n, int salt) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] =
        static_cast<float>(static_cast<int>((i * 7919 + static_cast<std::size_t>(salt) * 104729) % 2003) - 1001) / 250;
  return x;
}

}  // namespace burn::testing
