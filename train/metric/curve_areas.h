// Areas under curves of scored answers, from the numbers alone. Private to train/metric.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burn::metric {

// The items with one score, or with scores of one interval.
struct ScoreGroup {
  double positives = 0, negatives = 0;
};

// Items by their scores, highest first; items with equal scores are one group. NaN scores come last.
// Requires: as many labels as scores.
std::vector<ScoreGroup> groups_by_score(std::span<const float> scores, std::span<const std::uint8_t> labels);

// The probability that a positive item has a higher score than a negative one, equal scores counted half: the area
// under the ROC curve (Hanley and McNeil, Radiology 143, 1982). NaN without a positive or without a negative item.
double area_under_roc(std::span<const ScoreGroup> groups);
// By how much that can differ from the area with the scores within each group known.
double roc_error(std::span<const ScoreGroup> groups);

// Average precision: the sum over the groups of (gain in recall) * precision, precision with the group included (Zhu,
// Recall, Precision and Average Precision, 2004). NaN without a positive item.
double average_precision(std::span<const ScoreGroup> groups);
double average_precision_error(std::span<const ScoreGroup> groups);

}  // namespace burn::metric
