#include "daemon/operator/metrics.h"

#include <algorithm>
#include <limits>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include "base/error.h"
#include "base/one_line.h"
#include "daemon/operator/wrapped_text.h"

namespace burn::daemon {
namespace {

constexpr MetricInfo kMetrics[] = {
#define METRIC(id, name, type, labels, help) {Metric::id, name, MetricInfo::Type::type, labels, help},
#include "daemon/operator/metrics.def"
#undef METRIC
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

bool is_value_of(const MetricInfo::Label& label, std::string_view value) {
  return label.values.empty() || std::ranges::find(label.values, value) != label.values.end();
}

using Type = MetricInfo::Type;

std::string_view type_name(Type type) {
  return type == Type::counter ? "counter" : type == Type::gauge ? "gauge" : "histogram";
}

prometheus::MetricType library_type(Type type) {
  return type == Type::counter ? prometheus::MetricType::Counter
         : type == Type::gauge ? prometheus::MetricType::Gauge
                               : prometheus::MetricType::Histogram;
}

prometheus::ClientMetric::Histogram library_histogram(const HistogramSample& sample) {
  prometheus::ClientMetric::Histogram histogram;
  std::uint64_t so_far = 0;
  for (std::size_t k = 0; k < sample.counts.size(); ++k) {
    so_far += sample.counts[k];
    const auto bound = k < sample.bounds.size() ? sample.bounds[k] : std::numeric_limits<double>::infinity();
    histogram.bucket.push_back({.cumulative_count = so_far, .upper_bound = bound});
  }
  histogram.sample_count = so_far;
  histogram.sample_sum = sample.sum;
  return histogram;
}

// "`state` (connected, waiting)"
std::string describe(const MetricInfo::Label& label) {
  auto text = fmt::format("`{}`", label.name);
  if (label.values.empty()) return text;
  for (std::size_t k = 0; k < label.values.size(); ++k)
    text += fmt::format("{}{}", k == 0 ? " (" : ", ", label.values[k]);
  return text + ')';
}

}  // namespace

std::span<const MetricInfo> metrics() { return kMetrics; }
const MetricInfo& info(Metric metric) { return kMetrics[static_cast<std::size_t>(metric)]; }

std::vector<MetricInfo::Label> MetricInfo::label_list() const {
  std::vector<Label> list;
  for (const auto text : split(labels, ',')) {
    const auto equals = text.find('=');
    const bool has_values = equals != std::string_view::npos;
    list.push_back(
        {text.substr(0, equals), has_values ? split(text.substr(equals + 1), '|') : std::vector<std::string_view>{}});
  }
  return list;
}

bool Samples::has_room(Metric metric, std::initializer_list<std::string_view> labels, std::size_t series) const {
  const auto list = info(metric).label_list();
  BURN_CHECK(list.size() == labels.size(), "a value for each label of a metric");
  BURN_CHECK(std::ranges::equal(list, labels, is_value_of), "a label has a value that its list does not");
  return size_ + series <= kMaxSeries;
}

void Samples::add(Metric metric, double value, std::initializer_list<std::string_view> labels) {
  BURN_CHECK(info(metric).type != Type::histogram, "a histogram has more than one value");
  if (!has_room(metric, labels, 1)) return;
  Sample sample{.labels = {}, .value = value};
  for (const auto label : labels) sample.labels.push_back(one_line(label));
  by_metric_[static_cast<std::size_t>(metric)].push_back(std::move(sample));
  ++size_;
}

void Samples::add(Metric metric, HistogramSample value, std::initializer_list<std::string_view> labels) {
  BURN_CHECK(info(metric).type == Type::histogram, "a histogram's values are of a metric that is none");
  BURN_CHECK(value.counts.size() == value.bounds.size() + 1, "a histogram has a count above its last bound");
  const auto series = value.counts.size() + 2;
  if (!has_room(metric, labels, series)) return;
  Sample sample{.labels = {}, .value = 0, .histogram = std::move(value)};
  for (const auto label : labels) sample.labels.push_back(one_line(label));
  by_metric_[static_cast<std::size_t>(metric)].push_back(std::move(sample));
  size_ += series;
}

std::string Samples::to_text() const {
  std::vector<prometheus::MetricFamily> families;
  for (const auto& row : kMetrics) {
    const auto& samples = by_metric_[static_cast<std::size_t>(row.metric)];
    if (samples.empty()) continue;
    prometheus::MetricFamily family{
        .name = std::string{row.name}, .help = std::string{row.help}, .type = library_type(row.type), .metric = {}};
    const auto list = row.label_list();
    for (const auto& sample : samples) {
      prometheus::ClientMetric metric;
      for (std::size_t k = 0; k < list.size(); ++k)
        metric.label.push_back({std::string{list[k].name}, sample.labels[k]});
      if (row.type == Type::histogram) {
        metric.histogram = library_histogram(sample.histogram);
      } else {
        (row.type == Type::counter ? metric.counter.value : metric.gauge.value) = sample.value;
      }
      family.metric.push_back(std::move(metric));
    }
    families.push_back(std::move(family));
  }
  std::ostringstream text;
  prometheus::TextSerializer{}.Serialize(text, families);
  return std::move(text).str();
}

std::string metrics_markdown() {
  std::string text =
      "# Metrics\n\n"
      "Printed from `daemon/operator/metrics.def`; a test compares the two.\n\n" +
      wrapped(fmt::format(
          "`GET /metrics` of the operator's port (docs/operate/health-and-drain.md) answers in the text format 0.0.4 "
          "of "
          "Prometheus. Sizes are in bytes, times in seconds; counters begin with the process. A scrape reads what the "
          "daemon counts anyway: programs run no slower for it. No value of a label comes from a client, and a scrape "
          "has at most {} series.",
          Samples::kMaxSeries));
  for (const auto& row : kMetrics) {
    auto line = std::string{type_name(row.type)};
    const auto list = row.label_list();
    for (std::size_t k = 0; k < list.size(); ++k) line += (k == 0 ? ", by " : ", ") + describe(list[k]);
    text += fmt::format("\n## `{}`\n\n{}", row.name, wrapped(fmt::format("{}. {}.", line, row.help)));
  }
  return text;
}

}  // namespace burn::daemon
