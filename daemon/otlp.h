// OTLP, the protocol of OpenTelemetry, in JSON: a run as spans, and a URL of a collector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "serving/run_trace.h"

namespace burn::daemon {

struct OtlpUrl {
  std::string address;  // HOST:PORT, as net::parse_host_port() takes it
  std::string path = "/v1/traces";
};
// "http://HOST:PORT", with another path than /v1/traces behind it if there is one. Errors: INVALID_ARGUMENT, also for
// https.
Result<OtlpUrl> parse_otlp_url(std::string_view url);

// Random, of the trace and of its three spans.
struct TraceIds {
  std::uint64_t trace_high = 0, trace_low = 0;
  std::uint64_t run = 0, queue = 0, execute = 0;
};
constexpr std::size_t kSpansOfARun = 3;

// The spans of a run, with commas between them: "run" from when its call had come to its end; in it "queue" and
// "execute".
std::string otlp_spans(const serving::RunTrace& trace, const TraceIds& ids);
// An ExportTraceServiceRequest: `spans` is what otlp_spans() gives, of one run or of several with commas between.
std::string otlp_request(std::string_view service, std::string_view version, std::string_view instance,
                         std::string_view spans);

}  // namespace burn::daemon
