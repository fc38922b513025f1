// A step's output and targets as scores and labels of classes, in one form whatever the task. Private to train/metric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/metric/need.h"

namespace burn::metric {

// What there is to decide for an item.
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
// Errors: INVALID_ARGUMENT with both shapes where output and targets do not belong together.
LabelledScores labelled_scores(const StepOutput& output, Task task);

// [..., classes] as [rows, classes].
client::Value rows_of(const client::Value& x);
// bool [rows, classes]: true at the class. Reading it fails for a class that there is not.
client::Value one_hot_mask(const client::Value& classes_of_rows, std::int64_t classes);
// bool [rows, 1]: whether the class (integers [rows]) is among the k of its row with the highest scores; of equal ones
// the first come first. A class that there is not is not among them.
client::Value is_among_highest(const client::Value& scores, const client::Value& classes_of_rows, std::int64_t k);
// f32 [bins]: how many of the places (i64 [n], each below `bins`) are that bin, each counted with its weight (f32 [n]).
client::Value histogram(const client::Value& places, const client::Value& weights, std::int64_t bins);
// f32 [1, columns]: how many are true in each column of a bool [rows, columns]; exact below 2^24 rows.
client::Value count_true(const client::Value& mask);

}  // namespace burn::metric
