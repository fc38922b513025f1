// Assigns temporary values to offsets in one block of memory, so that values that do not live at the same time share
// bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burn::compile {

// Bytes that are in use from step `first` to step `last`, both included.
struct Lifetime {
  std::uint64_t bytes = 0;
  std::int32_t first = 0, last = 0;
};

struct ArenaPlan {
  std::vector<std::int64_t> offsets;  // one per lifetime, multiples of kAlignment
  std::uint64_t bytes = 0;            // of the whole arena

  static constexpr std::uint64_t kAlignment = 256;
};

// Places the largest first, each at the lowest offset that is free during its lifetime. Takes time about quadratic in
// the number of overlapping lifetimes; the result is within a few percent of the most bytes that live at once. `page`:
// bytes, a multiple of kAlignment, for devices whose allocations have a limit. Pages begin at multiples of it and need
// not be adjacent in memory, so no lifetime crosses a page boundary, except that one larger than a page gets adjacent
// pages of its own. 0: the arena is one allocation.
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, std::uint64_t page = 0);

// How much more memory the arena may take to avoid that steps wait for others that used the same bytes for another
// value.
struct ReuseLimits {
  std::uint64_t most = 0;   // bytes; an arena that needs no more gives every lifetime bytes of its own
  std::int32_t steps = 0;   // in larger arenas: bytes are reused only after this many more steps
  std::uint64_t extra = 0;  // bytes that the delay by `steps` may take beyond plan_arena() without it
};

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, const ReuseLimits& apart, std::uint64_t page = 0);

}  // namespace burn::compile
