// Spans in the JSON of OTLP.
#include "net/trace/otlp.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace burn::net {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Otlp, ASpanHasItsTraceItsParentItsTimesAndItsAttributes) {
  const std::chrono::system_clock::time_point begin{1'700'000'000s};
  Span span{.trace = {.trace_high = 1, .trace_low = 0xab, .is_sampled = true},
            .id = 7,
            .kind = Span::Kind::server,
            .name = "run",
            .begin = begin,
            .end = begin + 32ms,
            .attributes = {{"burn.device", "cpu"}, {"burn.nodes", std::uint64_t{12}}, {"burn.wait.inputs", 1ms}}};
  EXPECT_EQ(otlp_span(span),
            R"({"traceId":"000000000000000100000000000000ab","spanId":"0000000000000007","name":"run","kind":2,)"
            R"("startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000032000000","attributes":[)"
            R"({"key":"burn.device","value":{"stringValue":"cpu"}},)"
            R"({"key":"burn.nodes","value":{"intValue":"12"}},)"
            R"({"key":"burn.wait.inputs","value":{"doubleValue":0.001000000}}]})");
  span.trace.span = 0x1234;
  span.kind = Span::Kind::client;
  span.attributes.clear();
  span.result = StatusCode::deadline_exceeded;
  EXPECT_EQ(otlp_span(span),
            R"({"traceId":"000000000000000100000000000000ab","spanId":"0000000000000007",)"
            R"("parentSpanId":"0000000000001234","name":"run","kind":3,"startTimeUnixNano":"1700000000000000000",)"
            R"("endTimeUnixNano":"1700000000032000000","status":{"code":2,"message":"DEADLINE_EXCEEDED"}})");
}

TEST(Otlp, ARequestSaysWhichProcessItsSpansAreFrom) {
  EXPECT_EQ(otlp_request({.service = "burn-server", .version = "0.1.0", .instance = "host:7"}, "{}"),
            R"({"resourceSpans":[{"resource":{"attributes":[)"
            R"({"key":"service.name","value":{"stringValue":"burn-server"}},)"
            R"({"key":"service.version","value":{"stringValue":"0.1.0"}},)"
            R"({"key":"service.instance.id","value":{"stringValue":"host:7"}}]},)"
            R"("scopeSpans":[{"scope":{"name":"burn"},"spans":[{}]}]}]})");
}

TEST(Otlp, UrlsAreOfPlainHttp) {
  EXPECT_EQ(parse_otlp_url("http://127.0.0.1:4318")->path, "/v1/traces");
  EXPECT_EQ(parse_otlp_url("http://127.0.0.1:4318/")->path, "/v1/traces");
  EXPECT_EQ(parse_otlp_url("http://[::1]:4318/otlp/v1/traces")->address, "[::1]:4318");
  EXPECT_EQ(parse_otlp_url("http://[::1]:4318/otlp/v1/traces")->path, "/otlp/v1/traces");
  const auto why = [](std::string_view url) { return parse_otlp_url(url).status().message(); };
  EXPECT_THAT(why("https://collector:4318"), HasSubstr("traces are sent in plain text"));
  EXPECT_THAT(why("127.0.0.1:4318"), HasSubstr("begins with http://"));
  EXPECT_THAT(why("http://127.0.0.1"), HasSubstr("\"http://127.0.0.1\": "));
  EXPECT_THAT(why("http://127.0.0.1:4318/a b"), HasSubstr("no spaces"));
}

}  // namespace
}  // namespace burn::net
