#include "examples/modern-lstm/sequences.h"

#include <algorithm>
#include <random>
#include <utility>

namespace modern_lstm {

std::vector<Sequence> make_sequences(std::size_t count, std::size_t length, double noise, std::uint64_t seed) {
  double before = 1, size = 1;  // Fibonacci's numbers
  for (std::size_t i = 2; i < length; ++i) size += std::exchange(before, size);
  std::mt19937_64 rng{seed};
  std::uniform_real_distribution<double> first(0, 1);
  std::normal_distribution<double> error(0, noise);
  std::vector<Sequence> sequences;
  for (std::size_t k = 0; k < count; ++k) {
    std::vector<double> numbers{first(rng), first(rng)};
    while (numbers.size() <= length) numbers.push_back(numbers[numbers.size() - 2] + numbers.back() + error(rng));
    auto& sequence = sequences.emplace_back();
    for (std::size_t i = 0; i < length; ++i) sequence.numbers.push_back(static_cast<float>(numbers[i] / size));
    sequence.next = static_cast<float>(numbers[length] / size);
  }
  return sequences;
}

SequenceBatch SequenceBatcher::batch(const std::vector<Sequence>& sequences) const {
  std::vector<float> numbers, next;
  for (const auto& sequence : sequences) {
    numbers.insert(numbers.end(), sequence.numbers.begin(), sequence.numbers.end());
    next.push_back(sequence.next);
  }
  const auto count = static_cast<std::int64_t>(sequences.size());
  const auto length = static_cast<std::int64_t>(numbers.size()) / std::max<std::int64_t>(count, 1);
  return {Tensor<3>::from_data(TensorData(std::move(numbers), {count, length, 1}), device),
          Tensor<2>::from_data(TensorData(std::move(next), {count, 1}), device)};
}

}  // namespace modern_lstm
