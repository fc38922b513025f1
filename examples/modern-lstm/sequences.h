// Sequences in which each number is the sum of the two before it, with noise; the task is to predict the number after
// the last.
#pragma once

#include <cstdint>
#include <vector>

#include <burn/burn.h>

namespace modern_lstm {

using namespace burn::prelude;

struct Sequence {
  std::vector<float> numbers;  // `length` of them
  float next;                  // the number after them
};

// The first two numbers are uniform in [0, 1); each sum gets normal noise with deviation `noise`. A sequence is divided
// by the size to which its numbers grow, so that they are about 1 at most.
std::vector<Sequence> make_sequences(std::size_t count, std::size_t length, double noise, std::uint64_t seed);

struct SequenceBatch {
  Tensor<3> numbers;  // [batch, length, 1]
  Tensor<2> next;     // [batch, 1]
};

struct SequenceBatcher {
  Device device;

  SequenceBatch batch(const std::vector<Sequence>& sequences) const;
};

}  // namespace modern_lstm
