// Converts a step's output and targets to scores and labels of classes, in the same form for all tasks. Private to
// train/metric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/metric/need.h"

namespace burn::metric {

// What a classifier decides for an item.
//   binary      one question:       output [batch], [batch, 1] or [batch, 2] (the second column says yes)
//   multiclass  one of the classes: output [batch, classes] or [batch, time, classes]
//   multilabel  one question each:  output [batch, labels]
// Targets are integers, those of binary and multilabel in the shape of the output (0 or 1; also bools), those of
// multiclass without its last dim (the class), or in the shape of the output (1 at the class).
enum class Task : std::uint8_t { binary, multiclass, multilabel };

struct LabelledScores {
  client::Value scores;  // float [rows, classes]
  client::Value labels;  // bool [rows, classes]
  std::int64_t rows() const { return scores.dim(0); }
  std::int64_t classes() const { return scores.dim(1); }
};

std::vector<Need> needs_of(Task task);
// Errors: INVALID_ARGUMENT with both shapes if output and targets do not match.
LabelledScores labelled_scores(const StepOutput& output, Task task);

// [..., classes] as [rows, classes].
client::Value rows_of(const client::Value& x);
// bool [rows, classes]: true at the class. Reading it fails if a class is out of range.
client::Value one_hot_mask(const client::Value& classes_of_rows, std::int64_t classes);
// bool [rows, 1]: whether the class (integers [rows]) is among the k highest scores of its row; of equal scores the
// first are chosen. A class out of range is not among them.
client::Value is_among_highest(const client::Value& scores, const client::Value& classes_of_rows, std::int64_t k);
// f32 [bins]: for each bin the sum of the weights (f32 [n]) of the elements of `places` (i64 [n], each below `bins`)
// that equal it.
client::Value histogram(const client::Value& places, const client::Value& weights, std::int64_t bins);
// f32 [1, columns]: the number of true elements in each column of a bool [rows, columns]; exact below 2^24 rows.
client::Value count_true(const client::Value& mask);

}  // namespace burn::metric
