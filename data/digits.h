// Drawn digits: a data set in the form of MNIST that needs neither files nor network.
#pragma once

#include <cstdint>

#include "data/dataset.h"
#include "data/mnist.h"

namespace burn::data {

// Digits with strokes of varying form, thickness and darkness, turned, slanted, stretched and shifted. Item i is a
// function of the seed and i, the same on every platform; each run of ten items (0 to 9, 10 to 19, ...) has every digit
// once, in random order. Different seeds give different images of the same kind, as a test set needs. Items are drawn
// when fetched (some microseconds).
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
