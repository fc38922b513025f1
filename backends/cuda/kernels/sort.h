// Sorting lines by keys that are unsigned numbers in the order wanted, each with its place in the line: no two entries
// are equal, so any sorting of them is stable. Lines up to kSortTile are sorted in shared memory; of longer ones tiles
// are, which then are merged, two neighbours at a time. NVRTC only.
#pragma once

#include "backends/cuda/kernels/index.h"
#include "backends/cuda/kernels/shapes.h"
#include "backends/cuda/kernels/types.h"

namespace burn::cuda {

// The order of T's elements as that of an unsigned number: NaN is the largest, and all of them are equal, as both
// zeros are.
template <typename T>
BURN_ALWAYS_INLINE auto sort_key(T x) {
  if constexpr (std::is_same_v<T, double>) {
    const auto bits = x == 0 ? std::uint64_t{0} : static_cast<std::uint64_t>(__double_as_longlong(x));
    if (x != x) return ~std::uint64_t{0};
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
  } else if constexpr (std::is_same_v<compute_t<T>, float>) {
    const float value = to_compute(x);
    const auto bits = value == 0 ? std::uint32_t{0} : __float_as_uint(value);
    if (value != value) return ~std::uint32_t{0};
    return bits >> 31 ? ~bits : bits | std::uint32_t{1} << 31;
  } else if constexpr (sizeof(T) == 8) {
    return static_cast<std::uint64_t>(x) ^ (std::is_signed_v<T> ? std::uint64_t{1} << 63 : 0);
  } else {
    return static_cast<std::uint32_t>(x) ^ (std::is_signed_v<T> ? std::uint32_t{1} << 31 : 0);
  }
}

// A key of 32 bits above its place, or both side by side.
struct ShortEntry {
  std::uint64_t bits;
  BURN_ALWAYS_INLINE static ShortEntry of(std::uint32_t key, std::uint32_t place) {
    return {static_cast<std::uint64_t>(key) << 32 | place};
  }
  BURN_ALWAYS_INLINE std::int64_t place() const { return static_cast<std::uint32_t>(bits); }
};
BURN_ALWAYS_INLINE bool operator<(const ShortEntry& a, const ShortEntry& b) { return a.bits < b.bits; }

struct LongEntry {
  std::uint64_t key, at;
  BURN_ALWAYS_INLINE static LongEntry of(std::uint64_t key, std::uint32_t place) { return {key, place}; }
  BURN_ALWAYS_INLINE std::int64_t place() const { return static_cast<std::int64_t>(at); }
};
BURN_ALWAYS_INLINE bool operator<(const LongEntry& a, const LongEntry& b) {
  return a.key < b.key || (a.key == b.key && a.at < b.at);
}

template <bool kLong>
struct EntryOf : std::type_identity<ShortEntry> {};
template <>
struct EntryOf<true> : std::type_identity<LongEntry> {};
template <typename T>
using entry_t = typename EntryOf<sizeof(T) == 8>::type;

template <typename T, bool kDescending>
BURN_ALWAYS_INLINE entry_t<T> entry_of(T x, std::int64_t place) {
  const auto key = sort_key(x);
  return entry_t<T>::of(kDescending ? ~key : key, static_cast<std::uint32_t>(place));
}

// Comes behind every entry: no line is so long.
template <typename T>
BURN_ALWAYS_INLINE entry_t<T> last_entry() {
  using Key = decltype(sort_key(T{}));
  return entry_t<T>::of(static_cast<Key>(~Key{0}), ~std::uint32_t{0});
}

inline constexpr int kSortTile = 2048;
inline constexpr int kMergeTile = 1024;

// Sorts every `tile` of `block` entries (Batcher's bitonic network).
template <typename Entry>
BURN_ALWAYS_INLINE void sort_shared(Entry* entries, int tile, int block) {
  for (int size = 2; size <= tile; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < block / 2; i += kThreads) {
        const int low = 2 * i - (i & (distance - 1)), high = low + distance;
        const bool ascends = size == tile || (low & size) == 0;
        const Entry a = entries[low], b = entries[high];
        if (ascends == (b < a)) {
          entries[low] = b;
          entries[high] = a;
        }
      }
    }
  }
  __syncthreads();
}

// Tiles of x, or of `source` where that is not null. Their first entries go to `kept`, or, where that is null, to the
// results. `lines`: 0: x, 1: results.
template <typename T, bool kDescending>
BURN_ALWAYS_INLINE void sort_tiles(const T* __restrict__ x, const entry_t<T>* __restrict__ source,
                                   entry_t<T>* __restrict__ kept, T* __restrict__ values,
                                   std::int64_t* __restrict__ places, const Walk<2>& lines, const SortShape& shape) {
  __shared__ entry_t<T> entries[kSortTile];
  const auto first = std::int64_t{blockIdx.x} * (shape.block / shape.tile);
  for (int e = threadIdx.x; e < shape.block; e += kThreads) {
    const auto number = first + e / shape.tile, line = number / shape.tiles;
    const auto i = number % shape.tiles * shape.tile + e % shape.tile;
    entries[e] = last_entry<T>();
    if (line >= shape.lines || i >= shape.size) continue;
    entries[e] = source ? source[line * shape.size + i]
                        : entry_of<T, kDescending>(x[offsets(lines, line).at[0] + i * shape.from_step], i);
  }
  sort_shared(entries, shape.tile, shape.block);
  for (int e = threadIdx.x; e < shape.block; e += kThreads) {
    const auto number = first + e / shape.tile, line = number / shape.tiles;
    const auto tile = number % shape.tiles, i = tile * shape.tile + e % shape.tile;
    if (line >= shape.lines || i >= shape.size || e % shape.tile >= shape.kept) continue;
    if (kept) {
      kept[line * shape.kept_size + tile * shape.kept + e % shape.tile] = entries[e];
      continue;
    }
    const auto at = offsets(lines, line);
    const auto place = entries[e].place(), to = at.at[1] + i * shape.to_step;
    values[to] = x[at.at[0] + place * shape.from_step];
    places[to] = place;
  }
}

// How many of the first `count` entries of two merged runs are a's.
template <typename Entry>
BURN_ALWAYS_INLINE std::int64_t split_merged(const Entry* a, std::int64_t a_size, const Entry* b, std::int64_t b_size,
                                             std::int64_t count) {
  auto low = count > b_size ? count - b_size : 0, high = count < a_size ? count : a_size;
  while (low < high) {
    const auto middle = (low + high) / 2;
    if (a[middle] < b[count - 1 - middle])
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// Makes one run of every two; a block makes kMergeTile entries of one.
template <typename Entry>
BURN_ALWAYS_INLINE void merge_runs(const Entry* __restrict__ from, Entry* __restrict__ to, const SortShape& shape) {
  constexpr int kItems = kMergeTile / kThreads;
  __shared__ Entry entries[kMergeTile];
  __shared__ std::int64_t splits[2];
  const std::int64_t line = blockIdx.x / shape.tiles, begin = blockIdx.x % shape.tiles * kMergeTile;
  const auto start = begin / (2 * shape.run) * (2 * shape.run), rest = shape.size - start;
  const Entry* a = from + line * shape.size + start;
  const Entry* b = a + shape.run;
  const auto a_size = rest < shape.run ? rest : shape.run;
  const auto b_size = rest - a_size < shape.run ? rest - a_size : shape.run;
  const auto first = begin - start;
  const auto last = first + kMergeTile < a_size + b_size ? first + kMergeTile : a_size + b_size;
  if (threadIdx.x == 0) splits[0] = split_merged(a, a_size, b, b_size, first);
  if (threadIdx.x == 32) splits[1] = split_merged(a, a_size, b, b_size, last);
  __syncthreads();
  const auto a_first = splits[0], b_first = first - a_first;
  const int a_count = static_cast<int>(splits[1] - a_first), count = static_cast<int>(last - first);
  for (int i = threadIdx.x; i < count; i += kThreads)
    entries[i] = i < a_count ? a[a_first + i] : b[b_first + i - a_count];
  __syncthreads();
  const int done = threadIdx.x * kItems;
  if (done >= count) return;
  int i = static_cast<int>(split_merged(entries, a_count, entries + a_count, count - a_count, done));
  int j = a_count + done - i;
  Entry* out = to + line * shape.size + begin;
  for (int k = done; k < done + kItems && k < count; ++k) {
    const bool takes_a = j >= count || (i < a_count && entries[i] < entries[j]);
    out[k] = entries[takes_a ? i++ : j++];
  }
}

// The first `kept` entries of every line as results.
template <typename T>
BURN_ALWAYS_INLINE void store_sorted(const T* __restrict__ x, const entry_t<T>* __restrict__ entries,
                                     T* __restrict__ values, std::int64_t* __restrict__ places, const Walk<2>& lines,
                                     const SortShape& shape) {
  const auto i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (i >= shape.lines * shape.kept) return;
  const auto line = i / shape.kept, position = i % shape.kept;
  const auto at = offsets(lines, line);
  const auto place = entries[line * shape.size + position].place(), to = at.at[1] + position * shape.to_step;
  values[to] = x[at.at[0] + place * shape.from_step];
  places[to] = place;
}

}  // namespace burn::cuda
