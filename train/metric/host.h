// Metrics of the program, its host and its device during a training. They read nothing of the batches.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/metric/metric.h"

namespace burn::metric {

// A metric that measures nothing on the device.
class HostMetric : public Metric {
 public:
  Measured record(const StepOutput& /*output*/) const final { return {}; }
  bool higher_is_better() const override { return false; }
  bool is_of_batches() const override { return false; }
};

// The learning rate of the last step; with several optimizers or groups, that of the first.
class LearningRate : public HostMetric {
 public:
  std::string name() const override { return "Learning Rate"; }
  std::string label() const override { return "lr"; }
  void take(const MeasuredBatch& batch) override { rate_ = batch.rate; }
  double value() const override { return rate_ ? *rate_ : ratio(0, 0); }
  void reset() override { rate_.reset(); }
  ValueFormat value_format() const override { return {.decimals = 2, .scientific = true}; }
  std::vector<double> state() const override { return rate_ ? std::vector<double>{*rate_} : std::vector<double>{}; }
  void load_state(std::span<const double> state) override;

 private:
  std::optional<double> rate_;
};

// Batches per second, from the start of the epoch to its last batch. The results of several batches may arrive at the
// same moment, so the time between them would be meaningless. NaN before the second batch.
class IterationSpeed : public HostMetric {
 public:
  std::string name() const override { return "Iteration Speed"; }
  std::string label() const override { return "it/s"; }
  bool higher_is_better() const override { return true; }
  void take(const MeasuredBatch& batch) override;
  double value() const override;
  void reset() override;
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " iter/sec"}; }
  std::vector<double> state() const override { return {batches_, seconds_}; }
  void load_state(std::span<const double> state) override;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
  double batches_ = 0, seconds_ = 0;
};

// A number that is sampled at most once per second. The value is the mean of the samples since reset() or, if an epoch
// takes less than a second, the last sample before it.
class SampledMetric : public HostMetric {
 public:
  void take(const MeasuredBatch& batch) override;
  double value() const override { return count_ == 0 && known_ ? *known_ : ratio(sum_, count_); }
  void reset() override { sum_ = count_ = 0; }
  std::vector<double> state() const override { return {sum_, count_}; }
  void load_state(std::span<const double> state) override;

 protected:
  // Returns std::nullopt if the number is not known.
  virtual std::optional<double> sample(const MeasuredBatch& batch) = 0;

 private:
  using Clock = std::chrono::steady_clock;
  std::optional<Clock::time_point> last_;
  std::optional<double> known_;  // the last sample
  double sum_ = 0, count_ = 0;
};

// The utilization of this host's processors by all programs, in percent of all processors.
class CpuUse : public SampledMetric {
 public:
  explicit CpuUse(std::filesystem::path proc = "/proc");
  std::string name() const override { return "CPU Usage"; }
  std::string label() const override { return "cpu"; }
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " %"}; }

 protected:
  std::optional<double> sample(const MeasuredBatch& batch) override;

 private:
  struct Times {
    double busy = 0, all = 0;
  };
  std::optional<Times> times() const;

  std::filesystem::path proc_;
  std::optional<Times> before_;
};

// The memory of this host in use by all programs, in GB (10^9 bytes).
class CpuMemory : public SampledMetric {
 public:
  explicit CpuMemory(std::filesystem::path proc = "/proc") : proc_(std::move(proc)) {}
  std::string name() const override { return "CPU Memory"; }
  std::string label() const override { return "mem"; }
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " GB"}; }

 protected:
  std::optional<double> sample(const MeasuredBatch& batch) override;

 private:
  std::filesystem::path proc_;
};

// The mean of the host's temperature sensors, in degrees Celsius; NaN if there are none.
class CpuTemperature : public SampledMetric {
 public:
  explicit CpuTemperature(std::filesystem::path zones = "/sys/class/thermal") : zones_(std::move(zones)) {}
  std::string name() const override { return "CPU Temperature"; }
  std::string label() const override { return "temp"; }
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " °C"}; }

 protected:
  std::optional<double> sample(const MeasuredBatch& batch) override;

 private:
  std::filesystem::path zones_;
};

// The result is a text: memory and utilization of the training's device, local or remote, by all programs that use it,
// as the device reports them (proto::Session::stats). Queried at most once per second, without waiting. For any device,
// not only CUDA. The utilization is the share of time in which the device's server compiled or ran programs; for a GPU,
// in which it submitted work to it. "unavailable" before the first answer, and if the server's version does not answer.
class Cuda : public HostMetric {
 public:
  Cuda();
  std::string name() const override { return "Cuda"; }
  std::string label() const override { return "device"; }
  void take(const MeasuredBatch& batch) override;
  double value() const override { return ratio(0, 0); }
  void reset() override {}
  bool is_text() const override { return true; }
  std::string text() const override;  // "memory 3.25/79.10 GB, use 85 %"
  std::vector<double> state() const override { return {}; }
  void load_state(std::span<const double> state) override { check_state(*this, state, 0); }

 private:
  struct Answers;  // set on a thread of the device's session
  std::shared_ptr<Answers> answers_;
};

}  // namespace burn::metric
