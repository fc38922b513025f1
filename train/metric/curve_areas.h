// Areas under ROC and precision-recall curves. Private to train/metric.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burn::metric {

// The number of items with equal scores, or with scores in one interval.
struct ScoreGroup {
  double positives = 0, negatives = 0;
};

// Groups items by score, highest first; items with equal scores form one group. NaN scores are last.
// Requires: as many labels as scores.
std::vector<ScoreGroup> groups_by_score(std::span<const float> scores, std::span<const std::uint8_t> labels);

// The probability that a positive item has a higher score than a negative one, equal scores counted half: the area
// under the ROC curve (Hanley and McNeil, Radiology 143, 1982). NaN without a positive or without a negative item.
double area_under_roc(std::span<const ScoreGroup> groups);
// The largest possible difference from the area that ungrouped scores would have.
double roc_error(std::span<const ScoreGroup> groups);

// Average precision: the sum over the groups of (gain in recall) * precision, precision with the group included (Zhu,
// Recall, Precision and Average Precision, 2004). NaN without a positive item.
double average_precision(std::span<const ScoreGroup> groups);
double average_precision_error(std::span<const ScoreGroup> groups);

}  // namespace burn::metric
