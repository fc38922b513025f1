#include "train/checkpoint/strategy.h"

#include <set>

#include <fmt/format.h>

#include "base/error.h"

namespace burn::train {
namespace {

using Epochs = std::set<std::int64_t>;

void add(const KeepLast& last, const metric::MetricSet&, const std::vector<EpochResult>& history, Epochs& kept) {
  const auto newest = history.back().epoch;
  for (const auto& result : history) {
    if (result.epoch > newest - last.epochs) kept.insert(result.epoch);
  }
}

void add(const KeepBest& best, const metric::MetricSet& metrics, const std::vector<EpochResult>& history,
         Epochs& kept) {
  kept.insert(find_best(history, best.split, find_metric("checkpoints", best.metric, metrics), metrics).epoch);
}

void add(const KeepAll&, const metric::MetricSet&, const std::vector<EpochResult>& history, Epochs& kept) {
  for (const auto& result : history) kept.insert(result.epoch);
}

void add(const KeepChosen& chosen, const metric::MetricSet&, const std::vector<EpochResult>& history, Epochs& kept) {
  for (const auto epoch : chosen.epochs(history)) kept.insert(epoch);
}

}  // namespace

void check(const CheckpointStrategy& strategy, const metric::MetricSet& metrics) {
  if (const auto* last = std::get_if<KeepLast>(&strategy); last && last->epochs < 1) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("checkpoints: KeepLast of {} epochs, must be 1 or more", last->epochs));
  }
  if (const auto* best = std::get_if<KeepBest>(&strategy))
    (void)find_metric("checkpoints", best->metric, metrics);  // throws if there is none
  if (const auto* chosen = std::get_if<KeepChosen>(&strategy); chosen && !chosen->epochs) {
    throw Error(StatusCode::invalid_argument, "checkpoints: KeepChosen without a function");
  }
}

std::vector<std::int64_t> kept_epochs(std::span<const CheckpointStrategy> strategies, const metric::MetricSet& metrics,
                                      const std::vector<EpochResult>& history) {
  Epochs kept{history.back().epoch};
  for (const auto& strategy : strategies) {
    std::visit([&](const auto& kind) { add(kind, metrics, history, kept); }, strategy);
  }
  return {kept.begin(), kept.end()};
}

}  // namespace burn::train
