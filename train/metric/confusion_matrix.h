// Which class was taken for which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/metric/labels.h"
#include "train/metric/metric.h"

namespace burn::metric {

// A text: for each class how many of its items were answered with each class, as rows; counted on the device. The
// answer is the class with the highest score.
class ConfusionMatrix : public CountedMetric {
 public:
  // Names of the classes for the text, in their order; else their numbers.
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

  // The count of items of class `actual` that were answered with `answered`. Requires: both below classes().
  std::int64_t count(std::int64_t actual, std::int64_t answered) const;
  std::int64_t classes() const;  // 0 before the first batch

 private:
  std::vector<std::string> names_;
};

}  // namespace burn::metric
