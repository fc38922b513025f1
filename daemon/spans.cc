#include "daemon/spans.h"

#include <utility>

#include <fmt/format.h>

#include "daemon/log.h"

namespace burn::daemon {

Result<std::shared_ptr<net::SpanExporter>> make_span_exporter(const std::string& url, std::uint64_t one_in,
                                                              std::string_view title) {
  if (url.empty()) return std::shared_ptr<net::SpanExporter>{};
  auto parsed = net::parse_otlp_url(url);
  if (!parsed.ok()) return parsed.status().with_context("otlp");
  const auto log = [collector = parsed->address](const Status& status) {
    status.ok()
        ? log_info(fmt::format("the collector of traces at {} takes them again", collector))
        : log_warning(fmt::format("the collector of traces at {} does not take them: {}", collector, status.message()));
  };
  return std::make_shared<net::SpanExporter>(net::SpanExporter::Options{
      .url = *std::move(parsed), .one_in = one_in, .resource = net::resource_of(title), .on_change = log});
}

void collect_spans(const net::SpanExporter* exporter, Samples& samples) {
  if (!exporter) return;
  samples.add(Metric::trace_runs, static_cast<double>(exporter->sent()), {"sent"});
  samples.add(Metric::trace_runs, static_cast<double>(exporter->lost()), {"lost"});
}

}  // namespace burn::daemon
