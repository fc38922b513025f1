// The interface of metrics, which measure a model during training, and the basic metrics.
//
// A metric has two parts. record() records, within the step's program, the tensors that it needs from a batch; it must
// not read anything, or every step would wait for the device. take() gets their values some steps later, on the host,
// and accumulates them into the value of an epoch. docs/metrics.md lists all metrics, and explains how to write one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "train/events/event.h"
#include "train/metric/measured.h"
#include "train/metric/need.h"
#include "train/metric/step_output.h"

namespace burn::metric {

using train::events::ValueFormat;

// Copyable: a training makes a copy for each split. One thread at a time.
class Metric {
 public:
  Metric() = default;
  Metric(const Metric&) = default;
  Metric& operator=(const Metric&) = default;
  virtual ~Metric() = default;

  virtual std::string name() const = 0;                 // "Accuracy": in logs, summaries and early_stopping()
  virtual std::string label() const { return name(); }  // "acc": in progress lines
  virtual bool higher_is_better() const = 0;

  // The tensors that record() needs from the step: checked before it is called, with an error that names both.
  virtual std::vector<Need> needs() const { return {}; }
  // Returns the tensors to read for one batch. `output` is off the tape. Autocast is off: products compute in their
  // operands' dtype.
  virtual Measured record(const StepOutput& output) const = 0;
  // Called with the values of these tensors, in the order of the batches.
  virtual void take(const MeasuredBatch& batch) = 0;
  virtual double value() const = 0;  // over all batches since reset(); NaN without any
  // The same within an epoch, called after each batch. May return a value of an earlier batch if value() is expensive.
  virtual double value_so_far() const { return value(); }
  // Whether a single batch has a value, which charts show; otherwise they show value_so_far().
  virtual bool is_of_batches() const { return true; }
  virtual void reset() = 0;
  // How dashboards and loggers format a value, on other threads and in other programs.
  virtual ValueFormat value_format() const { return {}; }
  virtual std::string format(double value) const;  // by value_format(): "0.1234"

  // Whether the result is a text of one or several lines: value() is NaN then, and the metric cannot decide which epoch
  // is the best.
  virtual bool is_text() const { return false; }
  virtual std::string text() const { return format(value()); }  // the current result

  // What take() has accumulated, for a training that is interrupted within an epoch.
  virtual std::vector<double> state() const = 0;
  virtual void load_state(std::span<const double> state) = 0;
};

// Throws INVALID_ARGUMENT unless a metric's state has that size.
void check_state(const Metric& metric, std::span<const double> state, std::size_t size);

// A metric of one short vector per batch.
class VectorMetric : public Metric {
 public:
  // The numbers of one batch. `output` is off the tape.
  virtual Tensor<1> measure(const StepOutput& output) const = 0;
  // Called with these numbers, as f32, in the order of the batches.
  virtual void add(std::span<const float> measured, std::int64_t items) = 0;

  Measured record(const StepOutput& output) const override;
  void take(const MeasuredBatch& batch) final { add(batch.tensors[0].as_slice<float>(), batch.items); }
};

// A metric whose value is the mean over all items of one number per batch: measure() returns the batch's mean. Errors,
// of a step: INVALID_ARGUMENT if measure() does not return exactly one number.
class MeanMetric : public VectorMetric {
 public:
  Measured record(const StepOutput& output) const final;
  void add(std::span<const float> measured, std::int64_t items) override;
  double value() const override;
  void reset() override { sum_ = weight_ = 0; }
  std::vector<double> state() const override { return {sum_, weight_}; }
  void load_state(std::span<const double> state) override;

 private:
  double sum_ = 0, weight_ = 0;
};

// A metric whose value is computed from a fixed number of counts or sums, which are added up over the batches.
class CountedMetric : public Metric {
 public:
  // Adds the elements of all tensors of the batch, in order, to the counts.
  void take(const MeasuredBatch& batch) override;
  void reset() override { counts_.clear(); }
  std::vector<double> state() const override { return counts_; }
  void load_state(std::span<const double> state) override { counts_.assign(state.begin(), state.end()); }

 protected:
  // Errors: INVALID_ARGUMENT if earlier batches had another number of counts, for example another number of classes.
  void add_counts(std::span<const double> counts);
  const std::vector<double>& counts() const { return counts_; }  // empty before the first batch

 private:
  std::vector<double> counts_;
};

// sum / weight; NaN if the weight is 0.
double ratio(double sum, double weight);

// The mean of the loss.
class Loss : public MeanMetric {
 public:
  std::string name() const override { return "Loss"; }
  std::string label() const override { return "loss"; }
  bool higher_is_better() const override { return false; }
  std::vector<Need> needs() const override;
  Tensor<1> measure(const StepOutput& output) const override { return Tensor<1>{output.loss}; }
};

// The percentage of rows of the output [batch, classes] whose largest number is at the target [batch]; for sequences,
// the percentage of tokens: [batch, time, classes] and [batch, time].
class Accuracy : public VectorMetric {
 public:
  // Ignores targets of that class.
  Accuracy with_pad_token(std::int64_t token) const;

  std::string name() const override { return "Accuracy"; }
  std::string label() const override { return "acc"; }
  bool higher_is_better() const override { return true; }
  std::vector<Need> needs() const override;
  Tensor<1> measure(
      const StepOutput& output) const override;  // right answers; with sequences or padding also the total
  void add(std::span<const float> measured, std::int64_t items) override;
  double value() const override;
  void reset() override { right_ = all_ = 0; }
  ValueFormat value_format() const override { return {.decimals = 1, .unit = " %"}; }
  std::vector<double> state() const override;
  void load_state(std::span<const double> state) override;

 private:
  std::int64_t right_ = 0, all_ = 0;
  std::optional<std::int64_t> pad_;
};

}  // namespace burn::metric
