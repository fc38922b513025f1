// Loggers for SupervisedTraining::logger(), which write a training's metrics while it runs, in addition to the event
// file. Each gets at most 50 points per second for each metric and split; if steps are faster, a point is the mean of
// several.
//
// A resumed run appends to the file; lines of steps that are repeated are dropped from it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "train/events/append_file.h"
#include "train/events/event_sink.h"

namespace burn::train {

// Keeps events in memory. Thread-safe.
class MemoryLogger final : public events::EventSink {
 public:
  struct Value {
    std::int64_t step = 0;
    double value = 0;
  };

  void event(const events::Event& event) override;
  std::string name() const override { return "the logger in memory"; }

  // By the metric's name. Empty for a metric that is not measured.
  std::vector<events::MetricPoint> points(const std::string& metric, Split split) const;
  std::vector<Value> epochs(const std::string& metric, Split split) const;  // the value at the end of each pass
  std::vector<std::string> messages() const;

 private:
  std::optional<std::int32_t> find(const std::string& metric) const;

  mutable std::mutex mutex_;
  std::vector<events::MetricInfo> metrics_;
  std::vector<events::MetricPoint> points_;
  std::vector<events::SplitEnd> ends_;
  std::vector<std::string> messages_;
};

// A text file, opened at a Start event; other events write lines. Errors: as events::AppendFile.
class LineLogger : public events::EventSink {
 public:
  explicit LineLogger(std::filesystem::path path) : path_(std::move(path)) {}
  void event(const events::Event& event) final;
  void flush() final;
  std::string name() const override { return "the log " + path_.string(); }

 protected:
  virtual std::string header() const { return {}; }
  virtual void write(const events::Event& event) = 0;
  // Whether a line that was written before a resume is still valid.
  virtual bool keeps(const std::string& line, const events::Start& start) const = 0;

  void put(const std::string& line) { pending_ += line + "\n"; }
  std::string metric_name(std::int32_t metric) const;
  const std::vector<events::MetricInfo>& metrics() const { return metrics_; }

 private:
  void open(const events::Start& start);

  const std::filesystem::path path_;
  std::optional<events::AppendFile> file_;
  std::vector<events::MetricInfo> metrics_;
  std::string pending_;
};

// One JSON object per line, with "event" and "time" (seconds since 1970):
//   {"event":"point","time":1764097200.123,"split":"train","metric":"Loss","first_step":7,"step":9,"count":3,"mean":0.1,...}
//   {"event":"end of split","time":...,"split":"valid","epoch":1,"step":100,"items":8000,"seconds":1.7,"Loss":0.12}
class JsonLinesLogger final : public LineLogger {
 public:
  using LineLogger::LineLogger;

 private:
  void write(const events::Event& event) override;
  bool keeps(const std::string& line, const events::Start& start) const override;
};

// Points and ends of splits, with a header: time,kind,split,metric,epoch,step,count,mean,min,max
class CsvLogger final : public LineLogger {
 public:
  using LineLogger::LineLogger;

 private:
  std::string header() const override { return "time,kind,split,metric,epoch,step,count,mean,min,max"; }
  void write(const events::Event& event) override;
  bool keeps(const std::string& line, const events::Start& start) const override;
};

// A log for humans, with times: epochs, checkpoints, messages, the end.
class ApplicationLogger final : public LineLogger {
 public:
  using LineLogger::LineLogger;

 private:
  void write(const events::Event& event) override;
  bool keeps(const std::string&, const events::Start&) const override { return true; }
};

// Event files that TensorBoard reads: scalars named "Loss/train" at the steps of the optimizer, in a new file for each
// part of a run in `folder`. Errors: as events::AppendFile.
class TensorBoardLogger final : public events::EventSink {
 public:
  explicit TensorBoardLogger(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void event(const events::Event& event) override;
  void flush() override;
  std::string name() const override { return "the TensorBoard logger"; }

 private:
  void scalar(std::int64_t time_us, std::int32_t metric, const char* suffix, Split split, std::int64_t step,
              double value);

  const std::filesystem::path folder_;
  std::optional<events::AppendFile> file_;
  std::vector<events::MetricInfo> metrics_;
  std::string pending_;
};

namespace tensorboard {

// The messages of TensorFlow's event.proto that TensorBoard needs, as records of a file (length and payload, each with
// a masked CRC-32C).
std::string record(std::string_view payload);
std::string version_event(double seconds);                     // the first record of a file
std::string restart_event(double seconds, std::int64_t step);  // invalidates later steps in earlier files
std::string scalar_event(double seconds, std::int64_t step, std::string_view tag, float value);

}  // namespace tensorboard

}  // namespace burn::train
