#include "train/learner/history.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace burn::train {

Extreme find_extreme(const std::vector<EpochResult>& history, Split split, std::size_t metric, bool largest) {
  Extreme best{history.front().epoch, history.front().of(split)[metric]};
  for (const auto& result : history) {
    const double value = result.of(split)[metric];
    const bool is_better = largest ? value > best.value : value < best.value;
    if (is_better || (std::isnan(best.value) && !std::isnan(value))) best = {result.epoch, value};
  }
  return best;
}

std::size_t find_metric(std::string_view asking, const std::string& name, const metric::MetricSet& metrics) {
  std::string known;
  for (std::size_t i = 0; i < metrics.metrics().size(); ++i) {
    const auto measured = metrics.metrics()[i]->name();
    if (measured == name && metrics.metrics()[i]->is_text()) {
      throw Error(StatusCode::invalid_argument,
                  fmt::format("{}: the metric \"{}\" is a text, by which nothing is better", asking, name));
    }
    if (measured == name) return i;
    known += (i == 0 ? "" : ", ") + measured;
  }
  throw Error(StatusCode::invalid_argument,
              fmt::format("{}: no metric \"{}\" is measured; there are: {}", asking, name, known));
}

Extreme find_best(const std::vector<EpochResult>& history, Split split, std::size_t metric,
                  const metric::MetricSet& metrics) {
  return find_extreme(history, split, metric, metrics.metrics()[metric]->higher_is_better());
}

events::Summary extremes(const std::vector<EpochResult>& history, std::size_t metrics) {
  events::Summary summary;
  if (history.empty()) return summary;
  for (const auto split : {Split::train, Split::valid}) {
    for (std::size_t i = 0; i < metrics; ++i) {
      const auto min = find_extreme(history, split, i, false), max = find_extreme(history, split, i, true);
      if (std::isnan(min.value)) continue;  // a text, or not known in any epoch
      summary.rows.push_back({split, static_cast<std::int32_t>(i), min.value, max.value, min.epoch, max.epoch});
    }
  }
  return summary;
}

std::vector<MetricSummary> summarize(const std::vector<EpochResult>& history, const metric::MetricSet& metrics) {
  std::vector<MetricSummary> table;
  for (const auto& row : extremes(history, metrics.metrics().size()).rows) {
    const auto& metric = *metrics.metrics()[static_cast<std::size_t>(row.metric)];
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
  if (train.rank() != 2 || valid.shape() != train.shape()) {
    throw Error(StatusCode::invalid_argument, "checkpoint: the tensors of the metrics do not match");
  }
  const auto width = static_cast<std::size_t>(train.shape()[1]);
  const auto row = [width](const TensorData& data, std::size_t i) {
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
