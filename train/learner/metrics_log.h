// The metrics of a training as JSON lines: <artifact_dir>/metrics.jsonl, one line for each split of each epoch.
//
//   {"epoch":1,"split":"train","items":8000,"seconds":1.7,"lr":0.001,"Loss":0.1234,"Accuracy":96.1}
//
// If steps failed, "skipped" is their number; "items" counts the items of the other steps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/metric/metric_set.h"
#include "train/render/renderer.h"

namespace burn::train {

// One thread at a time. Every line has been passed to the operating system when write() returns. A line that could not
// be written, for example to a full disk, is written with the next one.
class MetricsLog {
 public:
  // Appends after the lines of the epochs up to `epochs_before`; later lines are dropped.
  // Errors: a folder that cannot be made or written.
  MetricsLog(const std::filesystem::path& artifact_dir, std::int64_t epochs_before);

  // Returns a message for the user if the line could not be written, but only for the first of successive failures;
  // else an empty text.
  std::string write(std::int64_t epoch, Split split, double seconds, double lr, const metric::MetricSet& metrics);

 private:
  std::string flush();

  std::filesystem::path path_;
  std::string unwritten_;
  bool last_write_ok_ = true;  // the last line was written
};

}  // namespace burn::train
