// Areas under the ROC and precision-recall curves of a classifier.
//
// Exact by default: every score and label is read and kept, 4 bytes for each class and 1 for each label of an item, and
// each computation of the value sorts them. with_thresholds(n) instead counts the scores in n intervals of [0, 1] on
// the device: 8 n bytes are read for each class, independent of the batch size, and error() bounds the error of the
// value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/metric/class_scores.h"
#include "train/metric/curve_areas.h"

namespace burn::metric {

class CurveMetric : public Metric {
 public:
  bool higher_is_better() const override { return true; }
  std::vector<Need> needs() const override { return needs_of(task_); }
  Measured record(const StepOutput& output) const override;
  void take(const MeasuredBatch& batch) override;
  double value() const override { return average(&CurveMetric::area); }  // percent; NaN if no class has an area
  double value_so_far() const override;
  void reset() override;
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " %"}; }
  std::vector<double> state() const override;
  void load_state(std::span<const double> state) override;
  // The largest possible difference, in percent, of value() from the exact value; 0 without thresholds.
  double error() const { return thresholds_ == 0 ? 0 : average(&CurveMetric::area_error); }

 protected:
  CurveMetric(std::string what, Task task, ClassReduction reduction);
  virtual double area(std::span<const ScoreGroup> groups) const = 0;  // NaN: the class has no area
  virtual double area_error(std::span<const ScoreGroup> groups) const = 0;
  // Errors: a count below 2.
  void set_thresholds(std::int64_t count);
  void set_logits(bool wanted) { logits_ = wanted; }

  std::string what_;

 private:
  using Area = double (CurveMetric::*)(std::span<const ScoreGroup>) const;
  double average(Area area_of) const;
  std::vector<ScoreGroup> groups_of(std::int64_t first_class, std::int64_t last_class) const;

  Task task_;
  ClassReduction reduction_;
  std::int64_t thresholds_ = 0;
  bool logits_ = false;

  std::int64_t classes_ = 0;  // 0 before the first batch
  // Exact: [items, classes] each.
  std::vector<float> scores_;
  std::vector<std::uint8_t> labels_;
  std::vector<double> counts_;  // with thresholds: [classes, thresholds, 2], negatives before positives
  mutable double shown_ = 0;
  mutable std::size_t shown_at_ = 0;  // number of scores when shown_ was computed
};

// Construction and settings shared by all curve metrics.
template <typename Self>
class CurveMetricOf : public CurveMetric {
 public:
  static Self binary() { return Self{Task::binary, ClassReduction::macro}; }
  static Self multiclass(ClassReduction reduction = ClassReduction::macro) { return Self{Task::multiclass, reduction}; }
  static Self multilabel(ClassReduction reduction = ClassReduction::macro) { return Self{Task::multilabel, reduction}; }
  // Counts scores in `count` equal intervals of [0, 1]; scores below 0 count as 0, above 1 as 1.
  Self with_thresholds(std::int64_t count) const {
    auto result = static_cast<const Self&>(*this);
    result.set_thresholds(count);
    return result;
  }
  // The output is logits: applies softmax (multiclass, and binary with two columns) or sigmoid first. This matters with
  // thresholds, and for several classes.
  Self with_logits(bool wanted = true) const {
    auto result = static_cast<const Self&>(*this);
    result.set_logits(wanted);
    return result;
  }
  std::string name() const override { return what_; }

 protected:
  using CurveMetric::CurveMetric;
};

// The area under the ROC curve. A class has no area if none or all of the items belong to it.
class Auroc : public CurveMetricOf<Auroc> {
 public:
  Auroc() : Auroc(Task::binary, ClassReduction::macro) {}
  Auroc(Task task, ClassReduction reduction) : CurveMetricOf("AUROC", task, reduction) {}
  std::string label() const override { return "auroc"; }

 private:
  double area(std::span<const ScoreGroup> groups) const override { return area_under_roc(groups); }
  double area_error(std::span<const ScoreGroup> groups) const override { return roc_error(groups); }
};

// The area under the precision-recall curve, as average precision. A class without items has no area.
class AucPr : public CurveMetricOf<AucPr> {
 public:
  AucPr() : AucPr(Task::binary, ClassReduction::macro) {}
  AucPr(Task task, ClassReduction reduction) : CurveMetricOf("AUC-PR", task, reduction) {}
  std::string label() const override { return "aucpr"; }

 private:
  double area(std::span<const ScoreGroup> groups) const override { return average_precision(groups); }
  double area_error(std::span<const ScoreGroup> groups) const override { return average_precision_error(groups); }
};

}  // namespace burn::metric
