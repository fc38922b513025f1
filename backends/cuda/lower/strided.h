// Loops over several values of one shape with different strides, which become a kernel's Walk.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>
#include <vector>

#include "backends/cuda/driver/compile_names.h"
#include "backends/cuda/kernels/index.h"

namespace burn::backends::cuda {

// One dim, and the strides of `kValues` values along it.
template <int kValues>
struct Loop {
  std::int64_t size = 1;
  std::array<std::int64_t, kValues> strides{};
};
template <int kValues>
using Loops = std::vector<Loop<kValues>>;  // outermost first

template <int kValues>
Loops<kValues> loops_over(const ir::Shape& shape, const std::array<const ir::Dims*, kValues>& strides) {
  Loops<kValues> loops;
  for (int d = 0; d < shape.rank(); ++d) {
    Loop<kValues> loop{shape[d], {}};
    for (std::size_t k = 0; k < kValues; ++k) loop.strides[k] = (*strides[k])[d];
    loops.push_back(loop);
  }
  return loops;
}

// Removes dims of size 1, and merges adjacent dims that are contiguous in every value.
template <int kValues>
Loops<kValues> merged(const Loops<kValues>& loops) {
  Loops<kValues> result;
  for (const auto& loop : loops) {
    if (loop.size == 1) continue;
    bool joins = !result.empty();
    for (std::size_t k = 0; joins && k < kValues; ++k) {
      joins = result.back().strides[k] == loop.strides[k] * loop.size;
    }
    if (joins)
      result.back() = {result.back().size * loop.size, loop.strides};
    else
      result.push_back(loop);
  }
  return result;
}

// The distance between neighbours. Stride 0 counts as the largest: a walk should stay at repeated elements as long as
// possible.
inline std::int64_t distance_of(std::int64_t stride) {
  return stride == 0 ? std::numeric_limits<std::int64_t>::max() : std::abs(stride);
}

// For loops whose order does not matter: sorts them so that the loop with the closest elements of the first value is
// last.
template <int kValues>
void sort_by_distance(Loops<kValues>& loops) {
  std::ranges::stable_sort(
      loops, [](const auto& a, const auto& b) { return distance_of(a.strides[0]) > distance_of(b.strides[0]); });
}

template <int kValues>
std::int64_t count_of(const Loops<kValues>& loops) {
  std::int64_t count = 1;
  for (const auto& loop : loops) count *= loop.size;
  return count;
}

template <int kValues>
burn::cuda::Walk<kValues> walk_of(const Loops<kValues>& loops) {
  burn::cuda::Walk<kValues> walk;
  walk.rank = static_cast<int>(loops.size());
  for (std::size_t d = 0; d < loops.size(); ++d) {
    walk.sizes[d] = loops[d].size;
    for (std::size_t k = 0; k < kValues; ++k) walk.strides[k][d] = loops[d].strides[k];
  }
  return walk;
}

// Whether packs of `width` elements of one value are aligned along the last loop: its stride must be 1, and all other
// strides must be multiples of the width.
template <int kValues>
bool packs_fit(const Loops<kValues>& loops, std::size_t value, std::int64_t width) {
  if (loops.empty() || loops.back().strides[value] != 1) return width == 1;
  return std::ranges::all_of(loops.begin(), loops.end() - 1,
                             [&](const auto& loop) { return loop.strides[value] % width == 0; });
}

inline bool is_aligned(const Address& address, std::int64_t bytes) { return address.offset % bytes == 0; }

inline std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

inline std::int64_t power_of_two_from(std::int64_t x) {  // the smallest one >= x
  std::int64_t power = 1;
  while (power < x) power *= 2;
  return power;
}

}  // namespace burn::backends::cuda
