#include "train/learner/splits.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace burn::train {

std::size_t find_metric(std::string_view asking, const std::string& name, Split split, const SplitMetrics& metrics) {
  const auto fail = [&](const std::string& why) {
    throw Error(StatusCode::invalid_argument, fmt::format("{}: {}", asking, why));
  };
  if (!metrics.has(split)) fail("there is no validation loader, so nothing is measured on the split valid");
  std::string known;
  const auto& measured = metrics.of(split).metrics();
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i]->name() == name && measured[i]->is_text())
      fail(fmt::format("the metric \"{}\" is a text, by which nothing is better", name));
    if (measured[i]->name() == name) return i;
    known += (i == 0 ? "" : ", ") + measured[i]->name();
  }
  const bool are_same = metrics.has(Split::valid) && &metrics.of(Split::train) == &metrics.of(Split::valid);
  const auto where = are_same ? std::string{} : fmt::format(" on the split {}", train::name(split));
  fail(fmt::format("no metric \"{}\" is measured{}; there are: {}", name, where, known));
  return 0;
}

NumberedMetrics::NumberedMetrics(const SplitMetrics& metrics) {
  const auto add = [this](const metric::MetricSet& set, std::vector<std::int32_t>& numbers) {
    for (const auto& metric : set.metrics()) {
      const auto found =
          std::ranges::find_if(all, [&](const metric::Metric* known) { return known->name() == metric->name(); });
      numbers.push_back(static_cast<std::int32_t>(found - all.begin()));
      if (found == all.end()) all.push_back(metric.get());
    }
  };
  add(metrics.of(Split::train), train);
  if (metrics.has(Split::valid)) add(metrics.of(Split::valid), valid);
}

}  // namespace burn::train
