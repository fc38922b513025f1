#include "train/metric/metric.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"

namespace burn::metric {
namespace {

void check_state(const Metric& metric, std::span<const double> state, std::size_t size) {
  if (state.size() == size) return;
  throw Error(StatusCode::invalid_argument,
              fmt::format("{}: a state of {} numbers, {} were expected", metric.name(), state.size(), size));
}

double ratio(double sum, double weight) {
  return weight == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / weight;
}

}  // namespace

std::string Metric::format(double value) const { return train::events::format_value(value_format(), value); }

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

Tensor<1> Accuracy::measure(const StepOutput& output) const {
  const auto answers = output.output_as<2>().argmax(1);                                     // [batch, 1]
  const auto targets = output.targets_as<1, Int>().cast(answers.dtype()).unsqueeze_dim(1);  // [batch, 1]
  return answers.equal(targets).to_float().sum();
}

void Accuracy::add(std::span<const float> measured, std::int64_t items) {
  right_ += std::llround(measured[0]);
  all_ += items;
}

double Accuracy::value() const { return 100 * ratio(static_cast<double>(right_), static_cast<double>(all_)); }

std::vector<double> Accuracy::state() const { return {static_cast<double>(right_), static_cast<double>(all_)}; }

void Accuracy::load_state(std::span<const double> state) {
  check_state(*this, state, 2);
  right_ = std::llround(state[0]);
  all_ = std::llround(state[1]);
}

}  // namespace burn::metric
