// OTLP, the protocol of OpenTelemetry, in JSON over HTTP/1.1.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/span.h"
#include "base/status.h"

namespace burn::net {

// The URL of a collector.
struct OtlpUrl {
  std::string address;  // HOST:PORT, as parse_host_port() takes it
  std::string path = "/v1/traces";
};
// Parses "http://HOST:PORT", optionally followed by a path, by default /v1/traces. Errors: INVALID_ARGUMENT, also for
// https.
Result<OtlpUrl> parse_otlp_url(std::string_view url);

// The process that spans are from.
struct OtlpResource {
  std::string service, version, instance;  // "burn-server", "0.1.0", "HOST:PID"
};

std::string otlp_span(const Span& span);
// Returns an ExportTraceServiceRequest. `spans`: results of otlp_span(), separated by commas.
std::string otlp_request(const OtlpResource& resource, std::string_view spans);

// Sends a request, and waits for the answer for `timeout` at most. Errors: exchange()'s; UNAVAILABLE for a status other
// than 2xx; DATA_LOSS for an answer that is not HTTP/1.
Status post_otlp(const OtlpUrl& url, std::string_view request, std::chrono::milliseconds timeout);

}  // namespace burn::net
