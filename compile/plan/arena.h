// Where temporary values lie in one block of memory, so that values that do not live at the same time share bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burn::compile {

// Bytes that are wanted from the first to the last step, both included.
struct Lifetime {
  std::uint64_t bytes = 0;
  std::int32_t first = 0, last = 0;
};

struct ArenaPlan {
  std::vector<std::int64_t> offsets;  // one per lifetime, multiples of kAlignment
  std::uint64_t bytes = 0;            // of the whole arena

  static constexpr std::uint64_t kAlignment = 256;
};

// Largest first, each at the lowest offset that is free for as long as it lives: about quadratic in how many overlap,
// and within a few percent of the most bytes that live at once. `page`: bytes, a multiple of kAlignment, for devices
// whose allocations have a limit: no lifetime lies in two pages, which begin at multiples of it and may be apart in
// memory; one that is larger than a page has pages of its own, side by side. 0: the arena is one piece.
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, std::uint64_t page = 0);

// How much more memory it may take that steps need not wait for others that used the same bytes for something else.
struct ReuseLimits {
  std::uint64_t most = 0;   // bytes of an arena in which no two lifetimes share any
  std::int32_t steps = 0;   // in larger ones: after which bytes are used again
  std::uint64_t extra = 0;  // bytes that this may take beyond plan_arena() of the lifetimes as they are
};

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, const ReuseLimits& apart, std::uint64_t page = 0);

}  // namespace burn::compile
