// Gaussian elimination of small row-major matrices without gaps, which stay in the near caches.
#pragma once

#include <cstdint>

namespace burn::backends::cpu {

// For larger matrices, a library that works block by block is faster.
inline constexpr std::int64_t kMaxForElimination = 256;

// T: float or double.
template <typename T>
struct Elimination {
  // a [rows, columns] becomes L (without its diagonal of ones) and U of its rows in the order given by `pivots`, of
  // min(rows, columns): rows k and pivots[k] - 1 are exchanged, for one k after the other. Each pivot is the largest
  // element that is left of its column. b [rows, sides] becomes L^-1 times its rows in that order; null if sides is 0.
  // Returns the number of the first pivot that is 0, counted from 1, or 0.
  std::int32_t (*eliminate)(std::int64_t rows, std::int64_t columns, T* a, std::int32_t* pivots, std::int64_t sides,
                            T* b);
  // b [n, sides] becomes U^-1 b; U is the upper triangle of a [n, n], with no 0 on its diagonal.
  void (*substitute)(std::int64_t n, const T* a, std::int64_t sides, T* b);
};

template <typename T>
const Elimination<T>& elimination();

}  // namespace burn::backends::cpu
