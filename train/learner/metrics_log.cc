#include "train/learner/metrics_log.h"

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "base/error.h"
#include "nn/module/config.h"

namespace burn::train {
namespace {

// The epoch of a line; 0 for a line that this class has not written.
std::int64_t epoch_of(const std::string& line) {
  try {
    const auto epoch = nn::detail::JsonReader::parse(line, "metrics").find("epoch");
    return epoch ? epoch->integer() : 0;
  } catch (const Error&) {
    return 0;
  }
}

// The lines of the epochs 1 to `last`.
std::string lines_until(const std::filesystem::path& path, std::int64_t last) {
  std::ifstream file(path);
  std::string kept, line;
  while (std::getline(file, line)) {
    const auto epoch = epoch_of(line);
    if (epoch >= 1 && epoch <= last) kept += line + "\n";
  }
  return kept;
}

void put(nn::detail::JsonWriter& json, const std::string& key, double number) {
  json.key(key);
  if (std::isfinite(number))
    json.value(number);
  else
    json.null();
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& artifact_dir, std::int64_t epochs_before)
    : path_(artifact_dir / "metrics.jsonl") {
  std::error_code error;
  std::filesystem::create_directories(artifact_dir, error);
  if (error) {
    throw Error(StatusCode::unavailable, "cannot make the folder " + artifact_dir.string() + ": " + error.message());
  }
  nn::detail::write_file(path_, epochs_before > 0 ? lines_until(path_, epochs_before) : "");
}

std::string MetricsLog::write(std::int64_t epoch, Split split, double seconds, double lr,
                              const metric::MetricSet& metrics) {
  nn::detail::JsonWriter json;
  json.begin_object();
  json.key("epoch");
  json.value(epoch);
  json.key("split");
  json.value(std::string{name(split)});
  json.key("items");
  json.value(metrics.items());
  if (metrics.skipped() > 0) {
    json.key("skipped");
    json.value(metrics.skipped());
  }
  put(json, "seconds", seconds);
  if (split == Split::train) put(json, "lr", lr);
  for (const auto& metric : metrics.metrics()) {
    if (metric->is_text()) {
      json.key(metric->name());
      json.value(metric->text());
    } else {
      put(json, metric->name(), metric->value());
    }
  }
  json.end_object();
  unwritten_ += json.text();
  return flush();
}

std::string MetricsLog::flush() {
  std::error_code error;
  const auto size = std::filesystem::file_size(path_, error);
  std::ofstream file(path_, std::ios::app);
  if (file << unwritten_ << std::flush) {
    unwritten_.clear();
    last_write_ok_ = true;
    return "";
  }
  file.close();
  if (!error) std::filesystem::resize_file(path_, size, error);  // removes a partially written line
  return std::exchange(last_write_ok_, false)
             ? "cannot write " + path_.string() + "; its lines are kept until it is possible"
             : "";
}

}  // namespace burn::train
