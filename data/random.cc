#include "data/random.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "ir/semantics/philox.h"

namespace burn::data {

std::uint32_t Rng::bits() {
  if (used_ == 4) {
    const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
    const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
    const auto lanes =
        ir::philox4x32({low(block_), high(block_), low(stream_), high(stream_)}, {low(seed_), high(seed_)});
    std::ranges::copy(lanes, lanes_.begin());
    ++block_;
    used_ = 0;
  }
  return lanes_[static_cast<std::size_t>(used_++)];
}

std::uint64_t Rng::below(std::uint64_t bound) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t limit = kMax - kMax % bound;  // a multiple of bound; numbers from here on are rejected
  std::uint64_t number = 0;
  do {
    number = std::uint64_t{bits()} << 32;
    number |= bits();
  } while (number >= limit);
  return number % bound;
}

float Rng::uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24f; }

std::vector<std::size_t> permutation(std::size_t size, Rng rng) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  return order;
}

}  // namespace burn::data
