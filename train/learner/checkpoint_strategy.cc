#include "train/learner/checkpoint_strategy.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"

namespace burn::train {
namespace {

using Epochs = std::set<std::int64_t>;

void add(const KeepLast& last, const SplitMetrics&, const std::vector<EpochResult>& history, Epochs& kept) {
  const auto newest = history.back().epoch;
  for (const auto& result : history) {
    if (result.epoch > newest - last.epochs) kept.insert(result.epoch);
  }
}

void add(const KeepBest& best, const SplitMetrics& metrics, const std::vector<EpochResult>& history, Epochs& kept) {
  const auto metric = find_metric("checkpoints", best.metric, best.split, metrics);
  kept.insert(find_best(history, best.split, metric, metrics).epoch);
}

void add(const KeepAll&, const SplitMetrics&, const std::vector<EpochResult>& history, Epochs& kept) {
  for (const auto& result : history) kept.insert(result.epoch);
}

void add(const KeepChosen& chosen, const SplitMetrics&, const std::vector<EpochResult>& history, Epochs& kept) {
  for (const auto epoch : chosen.epochs(history)) kept.insert(epoch);
}

void add(const EverySteps&, const SplitMetrics&, const std::vector<EpochResult>&, Epochs&) {}
void add(const EveryTime&, const SplitMetrics&, const std::vector<EpochResult>&, Epochs&) {}

void check_positive(const char* what, double number, std::int64_t keep) {
  if (!(number > 0))
    throw Error(StatusCode::invalid_argument, fmt::format("checkpoints: {} {}, must be positive", what, number));
  if (keep < 1)
    throw Error(StatusCode::invalid_argument, fmt::format("checkpoints: {} keeps {}, must be 1 or more", what, keep));
}

}  // namespace

bool keeps_epochs(const CheckpointStrategy& strategy) {
  return !std::holds_alternative<EverySteps>(strategy) && !std::holds_alternative<EveryTime>(strategy);
}

void check(const CheckpointStrategy& strategy, const SplitMetrics& metrics) {
  if (const auto* every = std::get_if<EverySteps>(&strategy))
    check_positive("EverySteps", static_cast<double>(every->steps), every->keep);
  if (const auto* every = std::get_if<EveryTime>(&strategy))
    check_positive("EveryTime", every->interval.count(), every->keep);
  if (const auto* last = std::get_if<KeepLast>(&strategy); last && last->epochs < 1) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("checkpoints: KeepLast of {} epochs, must be 1 or more", last->epochs));
  }
  if (const auto* best = std::get_if<KeepBest>(&strategy))
    (void)find_metric("checkpoints", best->metric, best->split, metrics);  // throws if there is none
  if (const auto* chosen = std::get_if<KeepChosen>(&strategy); chosen && !chosen->epochs) {
    throw Error(StatusCode::invalid_argument, "checkpoints: KeepChosen without a function");
  }
}

std::vector<std::int64_t> kept_epochs(std::span<const CheckpointStrategy> strategies, const SplitMetrics& metrics,
                                      const std::vector<EpochResult>& history) {
  Epochs kept{history.back().epoch};
  for (const auto& strategy : strategies) {
    std::visit([&](const auto& kind) { add(kind, metrics, history, kept); }, strategy);
  }
  return {kept.begin(), kept.end()};
}

std::int64_t kept_within_epochs(std::span<const CheckpointStrategy> strategies) {
  std::int64_t kept = 0;
  for (const auto& strategy : strategies) {
    if (const auto* every = std::get_if<EverySteps>(&strategy)) kept = std::max(kept, every->keep);
    if (const auto* every = std::get_if<EveryTime>(&strategy)) kept = std::max(kept, every->keep);
  }
  return kept;
}

CheckpointSchedule::CheckpointSchedule(std::span<const CheckpointStrategy> strategies) {
  for (const auto& strategy : strategies) {
    if (const auto* every = std::get_if<EverySteps>(&strategy)) steps_.push_back(every->steps);
    if (const auto* every = std::get_if<EveryTime>(&strategy)) intervals_.push_back(every->interval);
  }
}

bool CheckpointSchedule::is_due(std::int64_t steps, Clock::time_point now) {
  const bool by_steps = std::ranges::any_of(steps_, [&](std::int64_t every) { return steps % every == 0; });
  taken_ += 1;
  const bool is_planned = taken_ >= kPlannedSteps;
  const bool by_time =
      is_planned && std::ranges::any_of(intervals_, [&](const auto& every) { return now - last_ >= every; });
  return by_steps || by_time;
}

}  // namespace burn::train
