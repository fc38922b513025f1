// Drawn digits: a data set in the form of MNIST that needs neither files nor network.
#pragma once

#include <cstdint>

#include "data/dataset.h"
#include "data/mnist.h"

namespace burn::data {

// Digits with strokes of varying form, thickness and darkness, rotated, slanted, stretched and shifted. Item i depends
// on the seed and i only, and is the same on every platform; each run of ten items (0 to 9, 10 to 19, ...) has every
// digit once, in random order. Different seeds give different images of the same distribution, as for a test set. Items
// are drawn when fetched (some microseconds).
class DigitsDataset : public Dataset<MnistItem> {
 public:
  explicit DigitsDataset(std::size_t count, std::uint64_t seed = 0) : count_(count), seed_(seed) {}

  MnistItem get(std::size_t index) const override;
  std::size_t len() const override { return count_; }

 private:
  std::size_t count_;
  std::uint64_t seed_;
};

}  // namespace burn::data
