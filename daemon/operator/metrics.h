// The metrics of a daemon: the table daemon/operator/metrics.def, and the samples of one scrape. Nothing is counted
// here: a scrape reads what the parts of the daemon count for themselves, so that work costs nothing more.
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
    std::vector<std::string_view> values;  // all that it has; empty: they come from the configuration
  };

  Metric metric;
  std::string_view name;  // "burn_sessions"
  Type type;
  std::string_view labels;  // as metrics.def writes them
  std::string_view help;

  std::vector<Label> label_list() const;
};

std::span<const MetricInfo> metrics();  // in the order of Metric
const MetricInfo& info(Metric metric);

// What a histogram has counted: `counts` of values up to each of `bounds`, and of those above; not cumulative.
struct HistogramSample {
  std::vector<double> bounds;
  std::vector<std::uint64_t> counts;  // one more than bounds
  double sum = 0;
};

// The samples of one scrape.
class Samples {
 public:
  // Of one scrape, whatever the configuration: the largest configurations of a worker have fewer.
  static constexpr std::size_t kMaxSeries = 4000;

  // Requires: a value for each label of the metric, in the table's order, from the label's list where it has one; the
  // same values at most once for a metric. A value that is not UTF-8 has its other bytes written out; a sample beyond
  // kMaxSeries is left out.
  void add(Metric metric, double value, std::initializer_list<std::string_view> labels = {});

  // The same of a histogram, which has a series for each bound and three more.
  void add(Metric metric, HistogramSample value, std::initializer_list<std::string_view> labels = {});

  std::size_t size() const { return size_; }
  // The text format 0.0.4 of Prometheus: families in the table's order, those without a sample left out.
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

// docs/operate/metrics.md.
std::string metrics_markdown();

}  // namespace burn::daemon
