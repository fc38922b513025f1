// Random numbers for data sets and loaders: for a seed and a stream, the same on every platform.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace burn::data {

// Philox with a counter. Streams of one seed are independent: one for each epoch, item, ... A value; not thread-safe.
class Rng {
 public:
  explicit Rng(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  std::uint32_t bits();
  std::uint64_t below(std::uint64_t bound);  // uniform in [0, bound). Requires: bound > 0.
  float uniform();                           // in [0, 1), with 24 bits
  float uniform(float low, float high) { return low + (high - low) * uniform(); }

 private:
  std::uint64_t seed_, stream_, block_ = 0;
  std::array<std::uint32_t, 4> lanes_{};
  int used_ = 4;  // how many of lanes_ have been returned
};

// 0, ..., size - 1 in random order.
std::vector<std::size_t> permutation(std::size_t size, Rng rng);

}  // namespace burn::data
