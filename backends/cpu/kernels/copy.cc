#include "backends/cpu/kernels/copy.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/runtime/loops.h"

namespace burn::backends::cpu {
namespace {

using Nest = LoopNest<2>;  // 0: to, 1: from

template <typename T>
void copy_run(std::int64_t n, const T* from, std::int64_t from_step, T* to, std::int64_t to_step) {
  if (to_step == 1 && from_step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(n) * sizeof(T));
  } else if (to_step == 1 && from_step == 0) {
    std::fill_n(to, n, *from);
  } else {
    for (std::int64_t i = 0; i < n; ++i) to[i * to_step] = from[i * from_step];
  }
}

// The loop in which `from` is contiguous, if that is not the innermost one; otherwise -1.
int transposed_loop(const Nest& nest) {
  const int inner = nest.rank - 1;
  if (nest.strides[inner][0] != 1 || nest.strides[inner][1] == 1 || nest.strides[inner][1] == 0) return -1;
  for (int i = 0; i < inner; ++i) {
    if (nest.strides[i][1] == 1 && nest.sizes[i] >= 4) return i;
  }
  return -1;
}

// Square tiles, so that both the rows read and the rows written stay in the cache.
template <typename T>
void copy_tiles(const Nest& nest, int across, const T* from, T* to) {
  constexpr std::int64_t kTile = 32;
  const int inner = nest.rank - 1;
  Nest outer = nest;  // the tiles
  outer.sizes[across] = (nest.sizes[across] + kTile - 1) / kTile;
  outer.sizes[inner] = (nest.sizes[inner] + kTile - 1) / kTile;
  outer.total = 1;
  for (int i = 0; i < outer.rank; ++i) outer.total *= outer.sizes[i];

  parallel_for(outer.total, std::max<std::int64_t>(1, kGrain / (kTile * kTile)),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t tile = begin; tile < end; ++tile) {
                   std::int64_t rest = tile, at_from = 0, at_to = 0, rows = 0, columns = 0;
                   for (int i = outer.rank - 1; i >= 0; --i) {
                     std::int64_t index = rest % outer.sizes[i];
                     rest /= outer.sizes[i];
                     if (i == across || i == inner) {
                       index *= kTile;
                       (i == inner ? columns : rows) = std::min(kTile, nest.sizes[i] - index);
                     }
                     at_to += index * nest.strides[i][0];
                     at_from += index * nest.strides[i][1];
                   }
                   const auto to_row = nest.strides[across][0], from_column = nest.strides[inner][1];
                   for (std::int64_t r = 0; r < rows; ++r) {
                     for (std::int64_t c = 0; c < columns; ++c)
                       to[at_to + r * to_row + c] = from[at_from + r + c * from_column];
                   }
                 }
               });
}

template <typename T>
void copy_elements(const Nest& nest, const Array& from_array, Array& to_array) {
  const T* from = from_array.as<T>();
  T* to = to_array.as<T>();
  if (const int across = transposed_loop(nest); across >= 0) return copy_tiles(nest, across, from, to);
  const auto step = nest.inner_strides();
  nest.for_all_runs([&](std::int64_t n, const auto& at) { copy_run(n, from + at[1], step[1], to + at[0], step[0]); });
}

}  // namespace

void copy(const Array& from, Array& to) {
  const Nest nest(to.shape(), {&to.strides(), &from.strides()});
  if (nest.total == 0) return;
  switch (ir::size_of(to.dtype())) {
    case 1:
      return copy_elements<std::uint8_t>(nest, from, to);
    case 2:
      return copy_elements<std::uint16_t>(nest, from, to);
    case 4:
      return copy_elements<std::uint32_t>(nest, from, to);
    default:
      return copy_elements<std::uint64_t>(nest, from, to);
  }
}

Result<Array> contiguous(Run& run, const Array& x) {
  if (x.is_contiguous()) return x;
  BURN_TRY(auto y, run.allocate(x.type()));
  copy(x, y);
  return y;
}

Result<Array> writable(Run& run, const Array& x) {
  if (may_overwrite(x)) return x;
  BURN_TRY(auto y, run.allocate(x.type()));
  copy(x, y);
  return y;
}

}  // namespace burn::backends::cpu
