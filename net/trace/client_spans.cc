#include "net/trace/client_spans.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "base/fork.h"
#include "base/one_line.h"
#include "base/settings.h"
#include "net/trace/span_exporter.h"

namespace burn::net {
namespace {

struct ClientSpans {
  std::mutex mutex;
  std::shared_ptr<SpanExporter> exporter;  // Guarded by `mutex`.
};

ClientSpans& of_process() {
  static auto& processes = *new OnePerProcess<ClientSpans>;
  return processes.get();
}

void stop_at_end() {
  auto& spans = of_process();
  std::shared_ptr<SpanExporter> exporter;
  {
    const std::lock_guard lock{spans.mutex};
    exporter = spans.exporter;
  }
  if (exporter) exporter->stop();
}

void say(const std::string& collector, const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "burn: the collector of traces at %s (BURN_OTLP) does not take them: %s\n",
               one_line(collector).c_str(), one_line(status.message()).c_str());
}

}  // namespace

Result<std::shared_ptr<SpanSink>> client_spans() {
  const auto text = setting(Setting::otlp);
  if (text.empty()) return std::shared_ptr<SpanSink>{};
  auto& spans = of_process();
  const std::lock_guard lock{spans.mutex};
  if (spans.exporter) return std::shared_ptr<SpanSink>{spans.exporter};
  auto url = parse_otlp_url(text);
  if (!url.ok()) return url.status().with_context("BURN_OTLP");
  const auto collector = url->address;
  SpanExporter::Options options{
      .url = *std::move(url),
      .resource = resource_of(fmt::format("{} {}", program_invocation_short_name, BURN_VERSION)),
      .on_change = [collector](const Status& status) { say(collector, status); }};
  options.one_in = numeric_setting(Setting::trace_one_in).value_or(options.one_in);
  try {
    spans.exporter = std::make_shared<SpanExporter>(std::move(options));
  } catch (const std::system_error&) {
    return resource_exhausted("no thread to be had for BURN_OTLP");
  }
  static std::once_flag once;
  std::call_once(once, [] { (void)std::atexit(stop_at_end); });
  return std::shared_ptr<SpanSink>{spans.exporter};
}

}  // namespace burn::net
