// The confusion matrix: how often each class was predicted for each class.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/metric/labels.h"
#include "train/metric/metric.h"

namespace burn::metric {

// The result is a text: a row for each class, with the number of its items that were predicted as each class; counted
// on the device. The prediction is the class with the highest score.
class ConfusionMatrix : public CountedMetric {
 public:
  // Names of the classes in the text, in order. Default: their numbers.
  ConfusionMatrix with_classes(std::vector<std::string> names) const;

  std::string name() const override { return "Confusion Matrix"; }
  std::string label() const override { return "confusion"; }
  bool higher_is_better() const override { return true; }
  std::vector<Need> needs() const override { return needs_of(Task::multiclass); }
  Measured record(const StepOutput& output) const override;  // f32 [classes * classes]
  double value() const override { return ratio(0, 0); }
  void load_state(std::span<const double> state) override;
  bool is_text() const override { return true; }
  // A header, a line for each class with its counts and its recall, and a line with the precision of each class.
  // "no items" before the first batch.
  std::string text() const override;

  // The number of items of class `actual` that were predicted as `answered`. Requires: both below classes().
  std::int64_t count(std::int64_t actual, std::int64_t answered) const;
  std::int64_t classes() const;  // 0 before the first batch

 private:
  std::vector<std::string> names_;
};

}  // namespace burn::metric
