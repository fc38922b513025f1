#include "train/learner/early_stopping.h"

#include <fmt/format.h>

#include "base/error.h"

namespace burn::train {

std::size_t find_metric(const EarlyStopping& rule, const metric::MetricSet& metrics) {
  if (rule.patience < 1) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("early stopping: patience is {}, must be 1 or more", rule.patience));
  }
  std::string known;
  for (std::size_t i = 0; i < metrics.metrics().size(); ++i) {
    const auto name = metrics.metrics()[i]->name();
    if (name == rule.metric) return i;
    known += (i == 0 ? "" : ", ") + name;
  }
  throw Error(StatusCode::invalid_argument,
              fmt::format("early stopping: no metric \"{}\" is measured; there are: {}", rule.metric, known));
}

std::string why_stop(const EarlyStopping& rule, const metric::MetricSet& metrics,
                     const std::vector<EpochResult>& history) {
  const auto index = find_metric(rule, metrics);
  if (history.empty()) return {};
  const auto& metric = *metrics.metrics()[index];
  const auto best = find_extreme(history, rule.split, index, metric.higher_is_better());
  if (history.back().epoch - best.epoch < rule.patience) return {};
  return fmt::format("early stopping: {} {} has not been better than in epoch {} ({})", name(rule.split), rule.metric,
                     best.epoch, metric.format(best.value));
}

}  // namespace burn::train
