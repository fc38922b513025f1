// What is measured while a model trains: an interface to extend, and the metrics that come with it.
//
// A metric has two halves. measure() records, within the step's program, the few numbers that it wants to know of a
// batch; it must not read anything, or every step would wait for the device. add() takes those numbers some steps
// later, on the host, and gathers them into the value of an epoch.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "train/events/event.h"
#include "train/metric/step_output.h"

namespace burn::metric {

using train::StepOutput;

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

  // The numbers of one batch, f32 and always as many of them. `output` is off the tape.
  virtual Tensor<1> measure(const StepOutput& output) const = 0;
  // Called with them in the order of the batches.
  virtual void add(std::span<const float> measured, std::int64_t items) = 0;
  virtual double value() const = 0;  // of all batches since reset(); NaN without any
  virtual void reset() = 0;
  // How dashboards and loggers write a value, on other threads and in other programs.
  virtual train::events::ValueFormat value_format() const { return {}; }
  virtual std::string format(double value) const;  // as value_format() says: "0.1234"

  // What add() has gathered, for a training that is interrupted in the middle of an epoch.
  virtual std::vector<double> state() const = 0;
  virtual void load_state(std::span<const double> state) = 0;
};

// A metric whose value is the mean over the items of one number per batch: measure() gives the batch's mean.
class MeanMetric : public Metric {
 public:
  void add(std::span<const float> measured, std::int64_t items) override;
  double value() const override;
  void reset() override { sum_ = weight_ = 0; }
  std::vector<double> state() const override { return {sum_, weight_}; }
  void load_state(std::span<const double> state) override;

 private:
  double sum_ = 0, weight_ = 0;
};

// The mean of the loss.
class Loss : public MeanMetric {
 public:
  std::string name() const override { return "Loss"; }
  std::string label() const override { return "loss"; }
  bool higher_is_better() const override { return false; }
  Tensor<1> measure(const StepOutput& output) const override { return Tensor<1>{output.loss}; }
};

// How many of the rows of the output [batch, classes] have their largest number at the target [batch], in percent.
class Accuracy : public Metric {
 public:
  std::string name() const override { return "Accuracy"; }
  std::string label() const override { return "acc"; }
  bool higher_is_better() const override { return true; }
  Tensor<1> measure(const StepOutput& output) const override;
  void add(std::span<const float> measured, std::int64_t items) override;
  double value() const override;
  void reset() override { right_ = all_ = 0; }
  train::events::ValueFormat value_format() const override { return {.decimals = 1, .unit = " %"}; }
  std::vector<double> state() const override;
  void load_state(std::span<const double> state) override;

 private:
  std::int64_t right_ = 0, all_ = 0;
};

}  // namespace burn::metric
