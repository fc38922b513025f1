#include "train/learner/checkpoint_data.h"

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

void check_metrics(const TrainingState& state, const metric::MetricSet& metrics) {
  const auto measured = names(metrics);
  if (state.metrics == measured) return;
  throw Error(StatusCode::invalid_argument, "resume: the checkpoint has the metrics " + join(state.metrics) +
                                                ", this training measures " + join(measured));
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

}  // namespace burn::train
