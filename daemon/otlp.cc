#include "daemon/otlp.h"

#include <chrono>

#include <fmt/format.h>

#include "base/one_line.h"
#include "daemon/operator/json_text.h"
#include "net/transport/socket.h"

namespace burn::daemon {
namespace {

using std::chrono::nanoseconds;

std::string text(std::string_view key, std::string_view value) {
  return fmt::format(R"({{"key":"{}","value":{{"stringValue":{}}}}})", key, json_text(value));
}
std::string number(std::string_view key, double value) {
  return fmt::format(R"({{"key":"{}","value":{{"doubleValue":{:.9f}}}}})", key, value);
}
// 64-bit numbers are texts in the JSON of protocol buffers.
std::string count(std::string_view key, std::uint64_t value) {
  return fmt::format(R"({{"key":"{}","value":{{"intValue":"{}"}}}})", key, value);
}

double seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

// `parent`: 0 for none; `more`: further members, with a comma in front.
std::string span(const TraceIds& ids, std::uint64_t id, std::uint64_t parent, std::string_view name, nanoseconds begin,
                 nanoseconds end, std::string_view more) {
  constexpr int kServer = 2, kInternal = 1;  // SpanKind
  return fmt::format(
      R"({{"traceId":"{:016x}{:016x}","spanId":"{:016x}",{}"name":"{}","kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}"{}}})",
      ids.trace_high, ids.trace_low, id,
      parent == 0 ? std::string{} : fmt::format(R"("parentSpanId":"{:016x}",)", parent), name,
      parent == 0 ? kServer : kInternal, begin.count(), end.count(), more);
}

}  // namespace

Result<OtlpUrl> parse_otlp_url(std::string_view url) {
  constexpr std::string_view kHttp = "http://";
  const auto fails = [&](std::string_view why) { return invalid_argument(fmt::format("{}: {}", quoted(url), why)); };
  if (url.starts_with("https://"))
    return fails(
        "traces are sent in plain text, to a collector on this machine or in this pod, which may send them on by TLS");
  if (!url.starts_with(kHttp)) return fails("a URL of a collector begins with http://");
  const auto rest = url.substr(kHttp.size());
  const auto slash = rest.find('/');
  OtlpUrl parsed{.address = std::string{rest.substr(0, slash)}};
  const auto address = net::parse_host_port(parsed.address);
  if (!address.ok()) return fails(address.status().message());
  if (slash != std::string_view::npos && slash + 1 < rest.size()) parsed.path = rest.substr(slash);
  if (parsed.path.find_first_of(" \r\n\t") != std::string::npos) return fails("a path has no spaces");
  return parsed;
}

std::string otlp_spans(const serving::RunTrace& trace, const TraceIds& ids) {
  const nanoseconds received = trace.received.time_since_epoch();
  const auto begin = received + trace.queued, end = begin + trace.took;
  auto attributes = fmt::format(R"(,"attributes":[{},{},{},{})", text("burn.device", trace.device),
                                text("burn.program", trace.program), text("burn.first_op", trace.first_op),
                                count("burn.nodes", trace.nodes));
  if (!trace.tenant.empty()) attributes += "," + text("burn.tenant", trace.tenant);
  attributes += ']';
  constexpr int kError = 2;  // StatusCode
  if (trace.result != StatusCode::ok) {
    attributes += fmt::format(R"(,"status":{{"code":{},"message":{}}})", kError, json_text(name(trace.result)));
  }
  const auto waits = fmt::format(R"(,"attributes":[{},{}])", number("burn.wait.inputs", seconds(trace.inputs)),
                                 number("burn.wait.tenants", seconds(trace.turn)));
  return span(ids, ids.run, 0, "run", received, end, attributes) + "," +
         span(ids, ids.queue, ids.run, "queue", received, begin, "") + "," +
         span(ids, ids.execute, ids.run, "execute", begin, end, waits);
}

std::string otlp_request(std::string_view service, std::string_view version, std::string_view instance,
                         std::string_view spans) {
  return fmt::format(
      R"({{"resourceSpans":[{{"resource":{{"attributes":[{},{},{}]}},"scopeSpans":[{{"scope":{{"name":"burn"}},"spans":[{}]}}]}}]}})",
      text("service.name", service), text("service.version", version), text("service.instance.id", instance), spans);
}

}  // namespace burn::daemon
