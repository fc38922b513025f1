// The metrics of a daemon: the table daemon/operator/metrics.def, and the samples of one scrape. Nothing is counted
// here: a scrape reads counters that the parts of the daemon keep anyway, so that metrics cost nothing between scrapes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace burn::daemon {

enum class Metric : std::uint8_t {
#define METRIC(id, name, type, labels, help) id,
#include "daemon/operator/metrics.def"
#undef METRIC
};

struct MetricInfo {
  enum class Type : std::uint8_t { counter, gauge, histogram };
  struct Label {
    std::string_view name;
    std::vector<std::string_view> values;  // all values that it can have; empty: they come from the configuration
  };

  Metric metric;
  std::string_view name;  // "burn_sessions"
  Type type;
  std::string_view labels;  // in the form of metrics.def
  std::string_view help;

  std::vector<Label> label_list() const;
};

std::span<const MetricInfo> metrics();  // in the order of Metric
const MetricInfo& info(Metric metric);

// The state of a histogram: counts[i] values up to bounds[i], and last those above all bounds; not cumulative.
struct HistogramSample {
  std::vector<double> bounds;
  std::vector<std::uint64_t> counts;  // one more than bounds
  double sum = 0;
};

// The samples of one scrape.
class Samples {
 public:
  // Upper limit on the series of one scrape; the largest configurations of a worker have fewer.
  static constexpr std::size_t kMaxSeries = 4000;

  // Requires: a value for each label of the metric, in the table's order, and from the label's list if it has one; no
  // two samples of a metric have the same values. Invalid UTF-8 in a value is escaped; a sample beyond kMaxSeries is
  // dropped.
  void add(Metric metric, double value, std::initializer_list<std::string_view> labels = {});

  // The same for a histogram, which has a series for each bound and three more.
  void add(Metric metric, HistogramSample value, std::initializer_list<std::string_view> labels = {});

  std::size_t size() const { return size_; }
  // Prometheus text format 0.0.4: families in the table's order, without those that have no sample.
  std::string to_text() const;

 private:
  static constexpr std::size_t kCount = 0
#define METRIC(id, name, type, labels, help) +1
#include "daemon/operator/metrics.def"
#undef METRIC
      ;
  struct Sample {
    std::vector<std::string> labels;
    double value;
    HistogramSample histogram = {};
  };

  bool has_room(Metric metric, std::initializer_list<std::string_view> labels, std::size_t series) const;

  std::array<std::vector<Sample>, kCount> by_metric_;
  std::size_t size_ = 0;
};

inline constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4; charset=utf-8";

// The text of docs/operate/metrics.md.
std::string metrics_markdown();

}  // namespace burn::daemon
