// Spans: how long parts of a run took, and where they are sent.
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
  // The numbers of OTLP. server: of a request that came in; client: of one that was sent.
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

// `trace` for what is a part of the span `id`.
inline TraceContext within(TraceContext trace, std::uint64_t id) {
  trace.span = id;
  return trace;
}

// Thread-safe; nothing waits.
class SpanSink {
 public:
  SpanSink() = default;
  SpanSink(const SpanSink&) = delete;
  SpanSink& operator=(const SpanSink&) = delete;
  virtual ~SpanSink() = default;

  // The trace that a run is recorded in; nothing: it is not recorded. `caller`: the context that came with the run. One
  // that exists decides by is_sampled, within what callers may ask for; else the sink chooses one run in so many, for a
  // trace of its own.
  virtual std::optional<TraceContext> choose(const TraceContext& caller) = 0;
  // The spans of a run that was chosen.
  virtual void add(std::vector<Span> spans) = 0;
};

}  // namespace burn
