#include "train/metric/metric.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "client/ops/formula.h"
#include "train/metric/labels.h"

namespace burn::metric {

void check_state(const Metric& metric, std::span<const double> state, std::size_t size) {
  if (state.size() == size) return;
  throw Error(StatusCode::invalid_argument,
              fmt::format("{}: a state of {} numbers, {} were expected", metric.name(), state.size(), size));
}

double ratio(double sum, double weight) {
  return weight == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / weight;
}

std::string Metric::format(double value) const { return train::events::format_value(value_format(), value); }

Measured VectorMetric::record(const StepOutput& output) const { return measure(output).cast(DType::f32); }

std::vector<Need> Loss::needs() const { return {{"loss"}}; }

Measured MeanMetric::record(const StepOutput& output) const {
  const auto mean = measure(output);
  if (mean.dim(0) != 1) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("measure() gave {}, must give one number for a batch: their mean",
                            ir::to_string(mean.value().type())));
  }
  return mean.cast(DType::f32);
}

void MeanMetric::add(std::span<const float> measured, std::int64_t items) {
  sum_ += static_cast<double>(measured[0]) * static_cast<double>(items);
  weight_ += static_cast<double>(items);
}

double MeanMetric::value() const { return ratio(sum_, weight_); }

void MeanMetric::load_state(std::span<const double> state) {
  check_state(*this, state, 2);
  sum_ = state[0];
  weight_ = state[1];
}

void CountedMetric::take(const MeasuredBatch& batch) {
  std::vector<double> counts;
  for (const auto& tensor : batch.tensors) {
    const auto numbers = tensor.to_vec_as<double>();
    counts.insert(counts.end(), numbers.begin(), numbers.end());
  }
  add_counts(counts);
}

void CountedMetric::add_counts(std::span<const double> counts) {
  if (counts_.empty()) counts_.assign(counts.size(), 0.0);
  if (counts.size() != counts_.size()) {
    throw Error(StatusCode::invalid_argument, fmt::format("metric {}: a batch of {} counts after batches of {}", name(),
                                                          counts.size(), counts_.size()));
  }
  for (std::size_t i = 0; i < counts.size(); ++i) counts_[i] += counts[i];
}

Accuracy Accuracy::with_pad_token(std::int64_t token) const {
  auto result = *this;
  result.pad_ = token;
  return result;
}

std::vector<Need> Accuracy::needs() const {
  return {{"output", NeededKind::any, {2, 3}}, {"targets", NeededKind::integer, {1, 2}}};
}

Tensor<1> Accuracy::measure(const StepOutput& output) const {
  const auto scores = rows_of(output.output);                                 // [batch, classes]
  const auto targets = client::reshape(output.targets, {scores.dim(0)}, {});  // [batch]
  const Tensor<1, Bool> is_right{client::reshape(is_among_highest(scores, targets, 1), {scores.dim(0)}, {})};
  if (!pad_ && output.output.rank() == 2) return is_right.to_float().sum();
  const auto counts = pad_ ? Tensor<1, Int>{targets}.not_equal(*pad_) : Tensor<1, Bool>::ones_like(is_right);
  return Tensor<1>::cat({is_right.bool_and(counts).to_float().sum(), counts.to_float().sum()}, 0);
}

void Accuracy::add(std::span<const float> measured, std::int64_t items) {
  right_ += std::llround(measured[0]);
  all_ += measured.size() > 1 ? std::llround(measured[1]) : items;
}

double Accuracy::value() const { return 100 * ratio(static_cast<double>(right_), static_cast<double>(all_)); }

std::vector<double> Accuracy::state() const { return {static_cast<double>(right_), static_cast<double>(all_)}; }

void Accuracy::load_state(std::span<const double> state) {
  check_state(*this, state, 2);
  right_ = std::llround(state[0]);
  all_ = std::llround(state[1]);
}

}  // namespace burn::metric
