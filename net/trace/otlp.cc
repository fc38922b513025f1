#include "net/trace/otlp.h"

#include <chrono>
#include <cstdint>
#include <variant>

#include <fmt/format.h>

#include "base/json_text.h"
#include "base/one_line.h"
#include "base/overloaded.h"
#include "base/parse_number.h"
#include "net/dial/exchange.h"
#include "net/transport/socket.h"

namespace burn::net {
namespace {

using std::chrono::nanoseconds;

std::string text(std::string_view key, std::string_view value) {
  return fmt::format(R"({{"key":"{}","value":{{"stringValue":{}}}}})", key, json_text(value));
}

std::string attribute(const Span::Attribute& attribute) {
  const auto key = attribute.key;
  return std::visit(
      Overloaded{
          [&](const std::string& value) { return text(key, value); },
          // Protocol buffers' JSON writes 64-bit numbers as strings.
          [&](std::uint64_t value) { return fmt::format(R"({{"key":"{}","value":{{"intValue":"{}"}}}})", key, value); },
          [&](nanoseconds value) {
            return fmt::format(R"({{"key":"{}","value":{{"doubleValue":{:.9f}}}}})", key,
                               std::chrono::duration<double>(value).count());
          },
      },
      attribute.value);
}

std::int64_t since_1970(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count();
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
  const auto address = parse_host_port(parsed.address);
  if (!address.ok()) return fails(address.status().message());
  if (slash != std::string_view::npos && slash + 1 < rest.size()) parsed.path = rest.substr(slash);
  if (parsed.path.find_first_of(" \r\n\t") != std::string::npos) return fails("a path has no spaces");
  return parsed;
}

std::string otlp_span(const Span& span) {
  auto json = fmt::format(R"({{"traceId":"{:016x}{:016x}","spanId":"{:016x}",)", span.trace.trace_high,
                          span.trace.trace_low, span.id);
  if (span.trace.span != 0) json += fmt::format(R"("parentSpanId":"{:016x}",)", span.trace.span);
  json += fmt::format(R"("name":"{}","kind":{},"startTimeUnixNano":"{}","endTimeUnixNano":"{}")", span.name,
                      static_cast<int>(span.kind), since_1970(span.begin), since_1970(span.end));
  if (!span.attributes.empty()) {
    std::string all;
    for (const auto& each : span.attributes) all += (all.empty() ? "" : ",") + attribute(each);
    json += fmt::format(R"(,"attributes":[{}])", all);
  }
  constexpr int kError = 2;  // StatusCode of OTLP
  if (span.result != StatusCode::ok)
    json += fmt::format(R"(,"status":{{"code":{},"message":{}}})", kError, json_text(name(span.result)));
  return json + '}';
}

std::string otlp_request(const OtlpResource& resource, std::string_view spans) {
  return fmt::format(
      R"({{"resourceSpans":[{{"resource":{{"attributes":[{},{},{}]}},"scopeSpans":[{{"scope":{{"name":"burn"}},"spans":[{}]}}]}}]}})",
      text("service.name", resource.service), text("service.version", resource.version),
      text("service.instance.id", resource.instance), spans);
}

Status post_otlp(const OtlpUrl& url, std::string_view request, std::chrono::milliseconds timeout) {
  auto message = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: "
      "close\r\n\r\n",
      url.path, url.address, request.size());
  message += request;
  BURN_TRY(const auto answer, exchange(url.address, message, timeout));
  constexpr std::string_view kVersion = "HTTP/1.x ";
  constexpr std::size_t kDigits = 3;
  const auto code = answer.size() < kVersion.size() + kDigits || !answer.starts_with("HTTP/1.")
                        ? std::nullopt
                        : parse_number<unsigned>(std::string_view{answer}.substr(kVersion.size(), kDigits));
  if (!code) return data_loss(fmt::format("what answers at {} is no server of HTTP/1.1", url.address));
  if (*code / 100 == 2) return {};
  return unavailable(fmt::format("it answers with status {}", *code));
}

}  // namespace burn::net
