// Records spans: a sink that stores them, and a parser for the requests that an OTLP collector has received.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/span.h"

namespace burn::test {

// Stores every span. `chooses`: whether runs without a context are traced.
class SpanList final : public SpanSink {
 public:
  explicit SpanList(bool chooses = true) : chooses_(chooses) {}

  std::optional<TraceContext> choose(const TraceContext& caller) override {
    if (caller.exists()) return caller.is_sampled ? std::optional{caller} : std::nullopt;
    return chooses_ ? std::optional{new_trace()} : std::nullopt;
  }
  void add(std::vector<Span> spans) override {
    const std::lock_guard lock{mutex_};
    for (auto& span : spans) spans_.push_back(std::move(span));
  }
  std::vector<Span> spans() const {
    const std::lock_guard lock{mutex_};
    return spans_;
  }

 private:
  const bool chooses_;
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
};

// A span parsed from a collector's requests; ids are in hexadecimal digits.
struct PostedSpan {
  std::string service, trace, id, parent, name;
  std::uint64_t begin = 0, end = 0;  // ns since 1970
};

// `bodies`: OTLP requests in JSON, concatenated.
inline std::vector<PostedSpan> posted_spans(const std::string& bodies) {
  static const std::regex pattern{
      R"re("key":"service\.name","value":\{"stringValue":"([^"]*)"|"traceId":"([0-9a-f]{32})","spanId":"([0-9a-f]{16})",(?:"parentSpanId":"([0-9a-f]{16})",)?"name":"([^"]*)","kind":[123],"startTimeUnixNano":"(\d+)","endTimeUnixNano":"(\d+)")re"};
  std::vector<PostedSpan> spans;
  std::string service;
  for (std::sregex_iterator found{bodies.begin(), bodies.end(), pattern}, none; found != none; ++found) {
    const auto& part = *found;
    if (part[1].matched)
      service = part[1];
    else
      spans.push_back({service, part[2], part[3], part[4], part[5], std::stoull(part[6]), std::stoull(part[7])});
  }
  return spans;
}

// The span of that service and name in the trace; an empty span if there is none.
inline PostedSpan find_span(const std::vector<PostedSpan>& spans, const std::string& trace, const std::string& service,
                            const std::string& name) {
  const auto found = std::ranges::find_if(spans, [&](const PostedSpan& span) {
    return span.trace == trace && span.service == service && span.name == name;
  });
  return found == spans.end() ? PostedSpan{} : *found;
}

}  // namespace burn::test
