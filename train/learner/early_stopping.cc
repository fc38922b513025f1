#include "train/learner/early_stopping.h"

#include <fmt/format.h>

#include "base/error.h"

namespace burn::train {

std::size_t find_metric(const EarlyStopping& rule, const metric::MetricSet& metrics) {
  if (rule.patience < 1) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("early stopping: patience is {}, must be 1 or more", rule.patience));
  }
  return find_metric("early stopping", rule.metric, metrics);
}

std::string why_stop(const EarlyStopping& rule, const metric::MetricSet& metrics,
                     const std::vector<EpochResult>& history) {
  const auto index = find_metric(rule, metrics);
  if (history.empty()) return {};
  const auto& metric = *metrics.metrics()[index];
  const auto best = find_best(history, rule.split, index, metrics);
  if (history.back().epoch - best.epoch < rule.patience) return {};
  return fmt::format("early stopping: {} {} has not been better than in epoch {} ({})", name(rule.split), rule.metric,
                     best.epoch, metric.format(best.value));
}

}  // namespace burn::train
