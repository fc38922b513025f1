// Trace spans, which record how long parts of a run took, and the sink that they are sent to.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "base/trace_context.h"

namespace burn {

struct Span {
  // Numbered as in OTLP. server: of a request that was received; client: of one that was sent.
  enum class Kind : std::uint8_t { internal = 1, server = 2, client = 3 };
  struct Attribute {
    std::string_view key;  // a literal
    std::variant<std::string, std::uint64_t, std::chrono::nanoseconds> value;
  };

  TraceContext trace;    // `span`: the span that this one is a part of; 0: none
  std::uint64_t id = 0;  // its own
  Kind kind = Kind::internal;
  std::string_view name;  // a literal
  std::chrono::system_clock::time_point begin, end;
  std::vector<Attribute> attributes = {};
  StatusCode result = StatusCode::ok;
};

// `trace` with `id` as the parent span.
inline TraceContext within(TraceContext trace, std::uint64_t id) {
  trace.span = id;
  return trace;
}

// Thread-safe; no call blocks.
class SpanSink {
 public:
  SpanSink() = default;
  SpanSink(const SpanSink&) = delete;
  SpanSink& operator=(const SpanSink&) = delete;
  virtual ~SpanSink() = default;

  // Returns the trace to record a run in, or std::nullopt if it is not recorded. `caller`: the context sent with the
  // run. If it exists, its is_sampled decides, within the limit on callers' traces; otherwise the sink samples one run
  // in N and starts a new trace.
  virtual std::optional<TraceContext> choose(const TraceContext& caller) = 0;
  // Adds the spans of a run that choose() selected.
  virtual void add(std::vector<Span> spans) = 0;
};

}  // namespace burn
