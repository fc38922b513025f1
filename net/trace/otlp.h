// OTLP, the protocol of OpenTelemetry, in JSON over HTTP/1.1.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/span.h"
#include "base/status.h"

namespace burn::net {

// Of a collector.
struct OtlpUrl {
  std::string address;  // HOST:PORT, as parse_host_port() takes it
  std::string path = "/v1/traces";
};
// "http://HOST:PORT", with another path than /v1/traces behind it if there is one. Errors: INVALID_ARGUMENT, also for
// https.
Result<OtlpUrl> parse_otlp_url(std::string_view url);

// Which process spans are from.
struct OtlpResource {
  std::string service, version, instance;  // "burn-server", "0.1.0", "HOST:PID"
};

std::string otlp_span(const Span& span);
// An ExportTraceServiceRequest: `spans` is what otlp_span() gives, with commas between.
std::string otlp_request(const OtlpResource& resource, std::string_view spans);

// Sends a request, and waits for the answer for `timeout` at most. Errors: exchange()'s; UNAVAILABLE for an answer that
// is no 2xx; DATA_LOSS for one that is no HTTP/1.
Status post_otlp(const OtlpUrl& url, std::string_view request, std::chrono::milliseconds timeout);

}  // namespace burn::net
