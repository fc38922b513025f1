#include "train/learner/options.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "train/metric/host.h"

namespace burn::train {
namespace {

void check_least(const char* setting, const std::optional<std::int64_t>& number, std::int64_t least) {
  if (!number || *number >= least) return;
  throw Error(StatusCode::invalid_argument, fmt::format("{}: {}, must be {} or more", setting, *number, least));
}

void check_positive(const char* setting, const std::optional<double>& number) {
  if (!number || (*number > 0 && std::isfinite(*number))) return;
  throw Error(StatusCode::invalid_argument, fmt::format("{}: {}, must be positive and finite", setting, *number));
}

}  // namespace

void check(const TrainingOptions& options) {
  check_least("epochs", options.epochs, 0);
  check_least("max_steps", options.max_steps, 1);
  check_least("limit_batches of training", options.max_train_batches, 1);
  check_least("limit_batches of validation", options.max_valid_batches, 0);
  check_least("validate_every", options.validate_every, 1);
  check_least("grads_accumulation", options.grads_accumulation, 1);
  check_least("max_failures_in_a_row", options.max_failures_in_a_row, 0);
  check_positive("max_time in seconds", options.max_time ? std::optional{options.max_time->count()} : std::nullopt);
  check_positive("clip_norm", options.clip_norm);
  for (const auto& callback : options.callbacks) {
    if (!callback) throw Error(StatusCode::invalid_argument, "callbacks: a null pointer");
  }
  for (const auto& rule : options.stop_rules) {
    if (!rule) throw Error(StatusCode::invalid_argument, "stop_when: an empty function");
  }
}

KeepBest watched_metric(const TrainingOptions& options, const SplitMetrics& metrics) {
  if (const auto& rule = options.early_stopping) return {rule->metric, rule->split};
  for (const auto& strategy : options.checkpoints.value_or(std::vector<CheckpointStrategy>{})) {
    if (const auto* best = std::get_if<KeepBest>(&strategy)) return *best;
  }
  const auto split = metrics.has(Split::valid) ? Split::valid : Split::train;
  const auto& measured = metrics.of(split);
  if (const auto loss = metric::Loss{}.name(); measured.find(loss)) return {loss, split};
  for (const auto& metric : measured.metrics()) {
    // The learning rate and metrics of the host do not measure the model.
    const bool is_of_host = dynamic_cast<const metric::HostMetric*>(metric.get()) != nullptr;
    if (!metric->is_text() && !is_of_host) return {metric->name(), split};
  }
  throw Error(StatusCode::invalid_argument,
              "training: no metric is a number of the model, by which an epoch could be the best; add metric::Loss");
}

}  // namespace burn::train
