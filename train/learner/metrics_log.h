// The numbers of a training as JSON lines: <artifact_dir>/metrics.jsonl, one for each split of each epoch.
//
//   {"epoch":1,"split":"train","items":8000,"seconds":1.7,"lr":0.001,"Loss":0.1234,"Accuracy":96.1}
//
// Where steps failed, "skipped" says how many; "items" are those of the others.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "train/metric/metric_set.h"
#include "train/render/renderer.h"

namespace burn::train {

// One thread at a time. Every line is on disk when write() returns, as far as the system goes; a line that could not be
// written, as the disk was full, is written with the next one.
class MetricsLog {
 public:
  // Goes on after the lines of the epochs up to `epochs_before`; what comes after them is dropped.
  // Errors: a folder that cannot be made or written.
  MetricsLog(const std::filesystem::path& artifact_dir, std::int64_t epochs_before);

  // What to tell the user of a line that could not be written, once until one can be; else nothing.
  std::string write(std::int64_t epoch, Split split, double seconds, double lr, const metric::MetricSet& metrics);

 private:
  std::string flush();

  std::filesystem::path path_;
  std::string unwritten_;
  bool is_well_ = true;  // the last line was written
};

}  // namespace burn::train
