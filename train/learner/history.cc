#include "train/learner/history.h"

#include <cmath>
#include <limits>

#include "base/error.h"

namespace burn::train {
namespace {

double value_of(const EpochResult& result, Split split, std::size_t metric) {
  const auto& values = result.of(split);
  return metric < values.size() ? values[metric] : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Extreme find_extreme(const std::vector<EpochResult>& history, Split split, std::size_t metric, bool largest) {
  Extreme best{history.front().epoch, value_of(history.front(), split, metric)};
  for (const auto& result : history) {
    const double value = value_of(result, split, metric);
    const bool is_better = largest ? value > best.value : value < best.value;
    if (is_better || (std::isnan(best.value) && !std::isnan(value))) best = {result.epoch, value};
  }
  return best;
}

Extreme find_best(const std::vector<EpochResult>& history, Split split, std::size_t metric,
                  const SplitMetrics& metrics) {
  return find_extreme(history, split, metric, metrics.of(split).metrics()[metric]->higher_is_better());
}

events::Summary extremes(const std::vector<EpochResult>& history, const NumberedMetrics& numbers) {
  events::Summary summary;
  if (history.empty()) return summary;
  for (const auto split : {Split::train, Split::valid}) {
    const auto& of_split = numbers.of(split);
    for (std::size_t i = 0; i < of_split.size(); ++i) {
      const auto min = find_extreme(history, split, i, false), max = find_extreme(history, split, i, true);
      if (std::isnan(min.value)) continue;  // a text, or without a value in all epochs
      summary.rows.push_back({split, of_split[i], min.value, max.value, min.epoch, max.epoch});
    }
  }
  return summary;
}

std::vector<MetricSummary> summarize(const std::vector<EpochResult>& history, const SplitMetrics& metrics) {
  const NumberedMetrics numbers{metrics};
  std::vector<MetricSummary> table;
  for (const auto& row : extremes(history, numbers).rows) {
    const auto& metric = *numbers.all[static_cast<std::size_t>(row.metric)];
    table.push_back(
        {row.split, metric.name(), metric.format(row.min), metric.format(row.max), row.min_epoch, row.max_epoch});
  }
  return table;
}

Record to_record(const std::vector<EpochResult>& history) {
  Record record;
  for (const auto split : {Split::train, Split::valid}) {
    std::vector<double> values;
    for (const auto& result : history) values.insert(values.end(), result.of(split).begin(), result.of(split).end());
    const auto epochs = static_cast<std::int64_t>(history.size());
    const auto width = epochs == 0 ? 0 : static_cast<std::int64_t>(values.size()) / epochs;
    record.insert(std::string{name(split)}, TensorData{std::move(values), {epochs, width}});
  }
  return record;
}

std::vector<EpochResult> history_from_record(const Record& record) {
  const auto &train = record.get("train"), &valid = record.get("valid");
  if (train.rank() != 2 || valid.rank() != 2 || valid.shape()[0] != train.shape()[0]) {
    throw Error(StatusCode::invalid_argument, "checkpoint: the tensors of the metrics do not match");
  }
  const auto row = [](const TensorData& data, std::size_t i) {
    const auto width = static_cast<std::size_t>(data.shape()[1]);
    const auto values = data.as_slice<double>().subspan(i * width, width);
    return std::vector<double>{values.begin(), values.end()};
  };
  std::vector<EpochResult> history;
  for (std::size_t i = 0; i < static_cast<std::size_t>(train.shape()[0]); ++i) {
    history.push_back({static_cast<std::int64_t>(i + 1), row(train, i), row(valid, i)});
  }
  return history;
}

}  // namespace burn::train
