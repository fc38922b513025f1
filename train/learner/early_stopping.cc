#include "train/learner/early_stopping.h"

#include <fmt/format.h>

#include "base/error.h"

namespace burn::train {

std::size_t find_metric(const EarlyStopping& rule, const SplitMetrics& metrics) {
  const auto check = [](const char* what, std::int64_t number, std::int64_t least) {
    if (number >= least) return;
    throw Error(StatusCode::invalid_argument,
                fmt::format("early stopping: {} is {}, must be {} or more", what, number, least));
  };
  check("patience", rule.patience, 1);
  check("warmup", rule.warmup, 0);
  return find_metric("early stopping", rule.metric, rule.split, metrics);
}

std::string why_stop(const EarlyStopping& rule, const SplitMetrics& metrics, const std::vector<EpochResult>& history) {
  const auto index = find_metric(rule, metrics);
  if (history.empty() || history.back().epoch <= rule.warmup) return {};
  const auto& metric = *metrics.of(rule.split).metrics()[index];
  const auto best = find_best(history, rule.split, index, metrics);
  if (history.back().epoch - best.epoch < rule.patience) return {};
  return fmt::format("early stopping: {} {} has not been better than in epoch {} ({})", name(rule.split), rule.metric,
                     best.epoch, metric.format(best.value));
}

}  // namespace burn::train
