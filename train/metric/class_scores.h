// Scores of classifiers computed from counts per class: precision, recall, F-beta; and top-k accuracy and Hamming
// score.
//
// The counts are computed on the device and summed over the batches: a value is over all items of the epoch, however
// they were batched. (Burn averages the batches' values.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/metric/labels.h"
#include "train/metric/metric.h"

namespace burn::metric {

// How the scores of several classes are combined: micro: computed from the sums of their counts; macro: the mean of
// their scores, over the classes that have one.
enum class ClassReduction : std::uint8_t { micro, macro };
std::string_view name(ClassReduction reduction);  // "Micro", "Macro"

// When a score counts as a positive answer: above a threshold, or among the k highest of the item.
struct DecisionRule {
  double threshold = 0.5;
  std::int64_t top_k = 0;  // 0: the threshold is used

  std::string name() const;  // "Threshold(0.5)", "TopK(1)"
};

// A score computed from the counts of each class.
class ClassScore : public CountedMetric {
 public:
  std::string name() const override;
  bool higher_is_better() const override { return true; }
  std::vector<Need> needs() const override { return needs_of(task_); }
  Measured record(const StepOutput& output) const override;  // f32 [3, classes]
  double value() const override;                             // percent; NaN if no class has a score
  void load_state(std::span<const double> state) override;
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " %"}; }

 protected:
  ClassScore(std::string what, Task task, DecisionRule rule, ClassReduction reduction);
  // The score of a class from `right` (true positives), `answered` (predicted positives) and `actual` (positives). NaN:
  // the class has no score.
  virtual double score(double right, double answered, double actual) const = 0;

 private:
  std::string what_;
  Task task_;
  DecisionRule rule_;
  ClassReduction reduction_;
};

// right / answered: the share of positive answers that are right. A class that is never predicted has no score.
class Precision : public ClassScore {
 public:
  static Precision binary(double threshold = 0.5) { return {Task::binary, {threshold}, ClassReduction::macro}; }
  static Precision multiclass(std::int64_t top_k = 1, ClassReduction reduction = ClassReduction::macro);
  static Precision multilabel(double threshold = 0.5, ClassReduction reduction = ClassReduction::macro) {
    return {Task::multilabel, {threshold}, reduction};
  }
  std::string label() const override { return "prec"; }

 private:
  Precision(Task task, DecisionRule rule, ClassReduction reduction) : ClassScore("Precision", task, rule, reduction) {}
  double score(double right, double answered, double) const override { return ratio(right, answered); }
};

// right / actual: the share of a class's items that are found. A class without items has no score.
class Recall : public ClassScore {
 public:
  static Recall binary(double threshold = 0.5) { return {Task::binary, {threshold}, ClassReduction::macro}; }
  static Recall multiclass(std::int64_t top_k = 1, ClassReduction reduction = ClassReduction::macro);
  static Recall multilabel(double threshold = 0.5, ClassReduction reduction = ClassReduction::macro) {
    return {Task::multilabel, {threshold}, reduction};
  }
  std::string label() const override { return "rec"; }

 private:
  Recall(Task task, DecisionRule rule, ClassReduction reduction) : ClassScore("Recall", task, rule, reduction) {}
  double score(double right, double, double actual) const override { return ratio(right, actual); }
};

// (1 + beta^2) right / (answered + beta^2 actual): the harmonic mean of precision and recall, recall weighted beta
// times (van Rijsbergen, Information Retrieval, 1979). A class without items that is never predicted has no score.
class FBetaScore : public ClassScore {
 public:
  static FBetaScore binary(double beta = 1, double threshold = 0.5) {
    return {beta, Task::binary, {threshold}, ClassReduction::macro};
  }
  static FBetaScore multiclass(double beta = 1, std::int64_t top_k = 1,
                               ClassReduction reduction = ClassReduction::macro);
  static FBetaScore multilabel(double beta = 1, double threshold = 0.5,
                               ClassReduction reduction = ClassReduction::macro) {
    return {beta, Task::multilabel, {threshold}, reduction};
  }
  std::string label() const override;

 private:
  FBetaScore(double beta, Task task, DecisionRule rule, ClassReduction reduction);
  double score(double right, double answered, double actual) const override;

  double beta_;
};

// The percentage of rows of the output [batch, classes] with the target [batch] among their k largest numbers; for
// sequences, the percentage of tokens.
class TopKAccuracy : public CountedMetric {
 public:
  explicit TopKAccuracy(std::int64_t k = 1);
  // Ignores targets of that class.
  TopKAccuracy with_pad_token(std::int64_t token) const;

  std::string name() const override;
  std::string label() const override { return "top" + std::to_string(k_); }
  bool higher_is_better() const override { return true; }
  std::vector<Need> needs() const override;
  Measured record(const StepOutput& output) const override;  // f32 [2]: right, all
  double value() const override { return counts().empty() ? ratio(0, 0) : 100 * ratio(counts()[0], counts()[1]); }
  void load_state(std::span<const double> state) override;
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " %"}; }

 private:
  std::int64_t k_;
  std::optional<std::int64_t> pad_;
};

// The percentage of labels, over all items, that are predicted right: the accuracy of multi-label classification, which
// is 1 - the Hamming loss.
class HammingScore : public CountedMetric {
 public:
  HammingScore with_threshold(double threshold) const;
  // Applies a sigmoid to the output first.
  HammingScore with_sigmoid(bool wanted = true) const;

  std::string name() const override;
  std::string label() const override { return "hamming"; }
  bool higher_is_better() const override { return true; }
  std::vector<Need> needs() const override { return needs_of(Task::multilabel); }
  Measured record(const StepOutput& output) const override;  // [2]: right, all
  double value() const override { return counts().empty() ? ratio(0, 0) : 100 * ratio(counts()[0], counts()[1]); }
  void load_state(std::span<const double> state) override;
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " %"}; }

 private:
  double threshold_ = 0.5;
  bool sigmoid_ = false;
};

}  // namespace burn::metric
