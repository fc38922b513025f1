// Where temporary values lie in one block of memory, so that values that do not live at the same time share bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burn::backends {

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
// and within a few percent of the most bytes that live at once.
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes);

// The same, but where that takes no more than `most_apart` bytes no two share any: what uses them need not wait for
// what used the same bytes for something else.
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, std::uint64_t most_apart);

}  // namespace burn::backends
