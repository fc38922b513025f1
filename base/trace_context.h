// The trace that a piece of work belongs to, and the span that it is a part of: W3C Trace Context.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn {

struct TraceContext {
  std::uint64_t trace_high = 0, trace_low = 0;  // the first and the last 8 bytes of the trace id, as big-endian numbers
  std::uint64_t span = 0;                       // the parent span; 0: none
  bool is_sampled = false;                      // the trace is recorded

  // Whether there is a caller's span. W3C's ids are not 0.
  bool exists() const { return span != 0 && (trace_high != 0 || trace_low != 0); }
  friend bool operator==(const TraceContext&, const TraceContext&) = default;
};

// The header `traceparent`: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01". In versions after 00, text after
// the flags is ignored. Errors: INVALID_ARGUMENT with the text.
Result<TraceContext> parse_traceparent(std::string_view text);
std::string to_traceparent(const TraceContext& context);

// Random, and not 0. Thread-safe.
std::uint64_t new_span_id();
// Starts a trace: sampled, and without a span yet.
TraceContext new_trace();

}  // namespace burn
