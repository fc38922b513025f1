// What is measured while a model trains: an interface to extend, and the plainest of its metrics.
//
// A metric has two halves. record() records, within the step's program, the tensors that it wants to know of a batch;
// it must not read anything, or every step would wait for the device. take() gets their numbers some steps later, on
// the host, and gathers them into the value of an epoch. docs/metrics.md has all metrics, and how to write one.
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

// Copyable: a training makes itself a copy for each split. One thread at a time.
class Metric {
 public:
  Metric() = default;
  Metric(const Metric&) = default;
  Metric& operator=(const Metric&) = default;
  virtual ~Metric() = default;

  virtual std::string name() const = 0;                 // "Accuracy": in logs, summaries and early_stopping()
  virtual std::string label() const { return name(); }  // "acc": in a line
  virtual bool higher_is_better() const = 0;

  // What a step must give for record(): checked before it, with an error that names both.
  virtual std::vector<Need> needs() const { return {}; }
  // What is to be read of one batch. `output` is off the tape. No autocast: products compute in their operands' dtype.
  virtual Measured record(const StepOutput& output) const = 0;
  // Called with it in the order of the batches.
  virtual void take(const MeasuredBatch& batch) = 0;
  virtual double value() const = 0;  // of all batches since reset(); NaN without any
  // The same in the middle of an epoch, asked for after each batch: of some earlier batch, where value() takes long.
  virtual double value_so_far() const { return value(); }
  // Whether one batch alone has a value, as charts show them; else they show value_so_far().
  virtual bool is_of_batches() const { return true; }
  virtual void reset() = 0;
  // How dashboards and loggers write a value, on other threads and in other programs.
  virtual ValueFormat value_format() const { return {}; }
  virtual std::string format(double value) const;  // as value_format() says: "0.1234"

  // A metric whose result is a text of one or several lines: its value() is NaN, and nothing can be the best by it.
  virtual bool is_text() const { return false; }
  virtual std::string text() const { return format(value()); }  // what it says now

  // What take() has gathered, for a training that is interrupted in the middle of an epoch.
  virtual std::vector<double> state() const = 0;
  virtual void load_state(std::span<const double> state) = 0;
};

// Of a metric: throws INVALID_ARGUMENT unless a state has that size.
void check_state(const Metric& metric, std::span<const double> state, std::size_t size);

// A metric of one short vector per batch.
class VectorMetric : public Metric {
 public:
  // The numbers of one batch. `output` is off the tape.
  virtual Tensor<1> measure(const StepOutput& output) const = 0;
  // Called with them, as f32, in the order of the batches.
  virtual void add(std::span<const float> measured, std::int64_t items) = 0;

  Measured record(const StepOutput& output) const override;
  void take(const MeasuredBatch& batch) final { add(batch.tensors[0].as_slice<float>(), batch.items); }
};

// A metric whose value is the mean over the items of one number per batch: measure() gives the batch's mean.
// Errors, of a step: INVALID_ARGUMENT where measure() gives another number of numbers than one.
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

// A metric whose value follows from counts or sums that are added up over the batches, always as many.
class CountedMetric : public Metric {
 public:
  // Adds the elements of all tensors of the batch, in order, to the counts.
  void take(const MeasuredBatch& batch) override;
  void reset() override { counts_.clear(); }
  std::vector<double> state() const override { return counts_; }
  void load_state(std::span<const double> state) override { counts_.assign(state.begin(), state.end()); }

 protected:
  // Errors: INVALID_ARGUMENT where the batches before had another number of counts, such as another number of classes.
  void add_counts(std::span<const double> counts);
  const std::vector<double>& counts() const { return counts_; }  // empty before the first batch

 private:
  std::vector<double> counts_;
};

// sum / weight; NaN where the weight is 0.
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

// How many of the rows of the output [batch, classes] have their largest number at the target [batch], in percent; of
// sequences, how many tokens: [batch, time, classes] and [batch, time].
class Accuracy : public VectorMetric {
 public:
  // Targets of that class do not count.
  Accuracy with_pad_token(std::int64_t token) const;

  std::string name() const override { return "Accuracy"; }
  std::string label() const override { return "acc"; }
  bool higher_is_better() const override { return true; }
  std::vector<Need> needs() const override;
  Tensor<1> measure(const StepOutput& output) const override;  // right answers; of sequences and with padding also all
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
