#include "train/metric/episodes.h"

#include <numeric>

namespace burn::metric {

void MeanOfNumbers::add_number(double number) {
  const double counts[] = {number, 1};
  add_counts(counts);
}

std::vector<Need> MeanOfNumbers::needs() const { return {{needed_}}; }

Measured MeanOfNumbers::record(const StepOutput& output) const { return Measured{{*output.find(needed_)}}; }

void MeanOfNumbers::take(const MeasuredBatch& batch) {
  const auto numbers = batch.tensors[0].to_vec_as<double>();
  const double counts[] = {std::accumulate(numbers.begin(), numbers.end(), 0.0), static_cast<double>(numbers.size())};
  add_counts(counts);
}

void MeanOfNumbers::load_state(std::span<const double> state) {
  if (!state.empty()) check_state(*this, state, 2);  // none before the first number
  CountedMetric::load_state(state);
}

}  // namespace burn::metric
