#include "train/metric/curve_areas.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace burn::metric {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ScoreGroup total_of(std::span<const ScoreGroup> groups) {
  ScoreGroup total;
  for (const auto& group : groups) {
    total.positives += group.positives;
    total.negatives += group.negatives;
  }
  return total;
}

// The sum of the precisions at each positive item of a group that follows the items of `before`, if the group's
// positives are ordered first, or last.
double precisions(const ScoreGroup& before, const ScoreGroup& group, bool positives_first) {
  const double wrong = before.negatives + (positives_first ? 0 : group.negatives);
  double sum = 0;
  for (double i = 1; i <= group.positives; ++i) sum += (before.positives + i) / (before.positives + i + wrong);
  return sum;
}

}  // namespace

std::vector<ScoreGroup> groups_by_score(std::span<const float> scores, std::span<const std::uint8_t> labels) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    return std::isnan(scores[i]) ? -std::numeric_limits<float>::infinity() : scores[i];
  };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  std::vector<ScoreGroup> groups;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || key(order[i]) != key(order[i - 1])) groups.emplace_back();
    (labels[order[i]] != 0 ? groups.back().positives : groups.back().negatives) += 1;
  }
  return groups;
}

double area_under_roc(std::span<const ScoreGroup> groups) {
  const auto total = total_of(groups);
  if (total.positives == 0 || total.negatives == 0) return kNaN;
  double pairs = 0, negatives_above = 0;
  for (const auto& group : groups) {
    pairs += group.positives * (total.negatives - negatives_above - group.negatives / 2);
    negatives_above += group.negatives;
  }
  return pairs / (total.positives * total.negatives);
}

double roc_error(std::span<const ScoreGroup> groups) {
  const auto total = total_of(groups);
  if (total.positives == 0 || total.negatives == 0) return kNaN;
  double unknown = 0;
  for (const auto& group : groups) unknown += group.positives * group.negatives;
  return unknown / 2 / (total.positives * total.negatives);
}

double average_precision(std::span<const ScoreGroup> groups) {
  const auto total = total_of(groups);
  if (total.positives == 0) return kNaN;
  double sum = 0;
  ScoreGroup above;
  for (const auto& group : groups) {
    above.positives += group.positives;
    above.negatives += group.negatives;
    if (group.positives > 0) sum += group.positives * above.positives / (above.positives + above.negatives);
  }
  return sum / total.positives;
}

double average_precision_error(std::span<const ScoreGroup> groups) {
  const auto total = total_of(groups);
  if (total.positives == 0) return kNaN;
  double best = 0, worst = 0;
  ScoreGroup above;
  for (const auto& group : groups) {
    best += precisions(above, group, true);
    worst += precisions(above, group, false);
    above.positives += group.positives;
    above.negatives += group.negatives;
  }
  const double value = average_precision(groups);
  return std::max(best / total.positives - value, value - worst / total.positives);
}

}  // namespace burn::metric
