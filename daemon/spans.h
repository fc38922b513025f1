// Spans of a daemon's runs: where they go, and what is counted of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "daemon/operator/metrics.h"
#include "net/trace/span_exporter.h"

namespace burn::daemon {

// Sends to `url` (docs/operate/traces.md), of so many runs one; `title`: "burn-server 0.1.0". The log says when the
// collector takes them no more, and when it does again. Null: `url` is empty. Errors: INVALID_ARGUMENT for a URL that
// makes no sense.
Result<std::shared_ptr<net::SpanExporter>> make_span_exporter(const std::string& url, std::uint64_t one_in,
                                                              std::string_view title);

// `exporter`: null: nothing is counted.
void collect_spans(const net::SpanExporter* exporter, Samples& samples);

}  // namespace burn::daemon
