#include "train/learner/checkpoint_data.h"

#include <fmt/format.h>

#include "base/error.h"

namespace burn::train {
namespace {

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string key(std::size_t metric) { return "gathered/" + std::to_string(metric); }

}  // namespace

std::vector<std::string> names(const metric::MetricSet& metrics) {
  std::vector<std::string> names;
  for (const auto& metric : metrics.metrics()) names.push_back(metric->name());
  return names;
}

void check_metrics(const TrainingState& state, const SplitMetrics& metrics) {
  const auto check = [&](Split split, const std::vector<std::string>& of_checkpoint) {
    const auto measured = metrics.has(split) ? names(metrics.of(split)) : std::vector<std::string>{};
    if (of_checkpoint == measured) return;
    const auto listed = [](const std::vector<std::string>& all) { return all.empty() ? "none" : join(all); };
    throw Error(StatusCode::invalid_argument,
                fmt::format("resume: the checkpoint has the metrics {}, this training measures {} (split {})",
                            listed(of_checkpoint), listed(measured), name(split)));
  };
  check(Split::train, state.metrics);
  check(Split::valid, state.version == 1 ? state.metrics : state.valid_metrics);
}

void check_optimizers(const TrainingState& state, const std::vector<std::string>& names) {
  if (state.optimizers == names) return;
  const auto listed = [](const std::vector<std::string>& all) {
    return all.empty() ? "one optimizer without a name" : "the optimizers " + join(all);
  };
  throw Error(StatusCode::invalid_argument,
              fmt::format("resume: the checkpoint has {}, this training {}", listed(state.optimizers), listed(names)));
}

void save_gathered(const metric::MetricSet& metrics, Record& record) {
  const auto state = metrics.state();
  for (std::size_t i = 0; i < state.size(); ++i) {
    record.insert(key(i), TensorData{state[i], {static_cast<std::int64_t>(state[i].size())}});
  }
}

void load_gathered(const Record& record, std::int64_t items, metric::MetricSet& metrics) {
  std::vector<std::vector<double>> state;
  for (std::size_t i = 0; i < metrics.metrics().size(); ++i) state.push_back(record.get(key(i)).to_vec<double>());
  metrics.load_state(state, items);
}

Record with_averages(Record model, const Record& averages) {
  for (const auto& [name, data] : averages) model.insert(name, data);
  return model;
}

// The finaliser of SplitMix64.
std::uint64_t seed_of_epoch(std::uint64_t seed, std::int64_t epoch) {
  std::uint64_t z = seed + static_cast<std::uint64_t>(epoch) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace burn::train
