// Exports spans of a daemon's runs, and counts them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "daemon/operator/metrics.h"
#include "net/trace/span_exporter.h"

namespace burn::daemon {

// Makes an exporter that sends one in `one_in` runs to `url` (docs/operate/traces.md); `title`: "burn-server 0.1.0".
// Logs when the collector stops accepting spans, and when it accepts them again. Returns null if `url` is empty.
// Errors: INVALID_ARGUMENT for an invalid URL.
Result<std::shared_ptr<net::SpanExporter>> make_span_exporter(const std::string& url, std::uint64_t one_in,
                                                              std::string_view title);

// Adds the counters of `exporter`; adds nothing if it is null.
void collect_spans(const net::SpanExporter* exporter, Samples& samples);

}  // namespace burn::daemon
