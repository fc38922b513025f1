// Runs as spans in the JSON of OTLP, and how they get to a collector.
#include "daemon/trace_exporter.h"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_collector.h"

namespace burn::daemon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

serving::RunTrace a_run() {
  return {.received = std::chrono::system_clock::time_point{1'700'000'000s},
          .queued = 2ms,
          .took = 30ms,
          .inputs = 1ms,
          .turn = 4ms,
          .device = "cpu",
          .tenant = "vision",
          .program = "66c371585956929726019c8fb02179a8",
          .first_op = "matmul",
          .nodes = 12};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

template <typename Holds>
bool eventually(const Holds& holds) {
  for (int k = 0; k < 1000 && !holds(); ++k) std::this_thread::sleep_for(10ms);
  return holds();
}

TEST(Otlp, ARunIsThreeSpansOfOneTrace) {
  const auto text = otlp_spans(a_run(), {.trace_high = 1, .trace_low = 0xab, .run = 7, .queue = 8, .execute = 9});
  EXPECT_EQ(text, R"({"traceId":"000000000000000100000000000000ab","spanId":"0000000000000007","name":"run","kind":2,)"
                  R"("startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000032000000","attributes":[)"
                  R"({"key":"burn.device","value":{"stringValue":"cpu"}},)"
                  R"({"key":"burn.program","value":{"stringValue":"66c371585956929726019c8fb02179a8"}},)"
                  R"({"key":"burn.first_op","value":{"stringValue":"matmul"}},)"
                  R"({"key":"burn.nodes","value":{"intValue":"12"}},)"
                  R"({"key":"burn.tenant","value":{"stringValue":"vision"}}]},)"
                  R"({"traceId":"000000000000000100000000000000ab","spanId":"0000000000000008",)"
                  R"("parentSpanId":"0000000000000007","name":"queue","kind":1,)"
                  R"("startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000002000000"},)"
                  R"({"traceId":"000000000000000100000000000000ab","spanId":"0000000000000009",)"
                  R"("parentSpanId":"0000000000000007","name":"execute","kind":1,)"
                  R"("startTimeUnixNano":"1700000000002000000","endTimeUnixNano":"1700000000032000000","attributes":[)"
                  R"({"key":"burn.wait.inputs","value":{"doubleValue":0.001000000}},)"
                  R"({"key":"burn.wait.tenants","value":{"doubleValue":0.004000000}}]})");
  auto failed = a_run();
  failed.result = StatusCode::deadline_exceeded;
  failed.tenant.clear();
  const auto other = otlp_spans(failed, {});
  EXPECT_THAT(other, HasSubstr(R"("status":{"code":2,"message":"DEADLINE_EXCEEDED"})"));
  EXPECT_THAT(other, Not(HasSubstr("burn.tenant")));
  EXPECT_EQ(otlp_request("burn-server", "0.1.0", "host:7", "{}"),
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

TEST(TraceExporter, OneRunInSoManyIsChosen) {
  TraceExporter exporter{{.address = "127.0.0.1:1"}, 4, "burn-test 4.5.6"};
  int chosen = 0;
  for (int k = 0; k < 100; ++k) chosen += exporter.is_chosen() ? 1 : 0;
  EXPECT_EQ(chosen, 25);
}

TEST(TraceExporter, SendsAllThatWaitsAlsoAtItsEnd) {
  test::HttpCollector collector;
  {
    TraceExporter exporter{*parse_otlp_url(collector.url()), 1, "burn-test 4.5.6"};
    for (int k = 0; k < 300; ++k) exporter.add(a_run());
    EXPECT_TRUE(eventually([&] { return exporter.sent() == 300; })) << exporter.sent();
    exporter.add(a_run());
  }
  EXPECT_EQ(count(collector.bodies(), R"("name":"run")"), 301u);
  const auto requests = collector.requests();
  EXPECT_LE(requests.size(), 5u) << "runs are sent together";
  EXPECT_THAT(requests[0].head, testing::StartsWith("POST /v1/traces HTTP/1.1\r\n"));
  EXPECT_THAT(requests[0].head, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(requests[0].body, HasSubstr(R"("value":{"stringValue":"burn-test"})"));
  EXPECT_THAT(requests[0].body, HasSubstr(R"("value":{"stringValue":"4.5.6"})"));
}

TEST(TraceExporter, WhatACollectorDoesNotTakeIsLostAndHoldsNothingUp) {
  test::HttpCollector collector{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"};
  TraceExporter refused{*parse_otlp_url(collector.url()), 1, "burn-test 4.5.6"};
  TraceExporter alone{{.address = "127.0.0.1:1"}, 1, "burn-test 4.5.6"};  // nothing listens there
  for (auto* exporter : {&refused, &alone}) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t k = 0; k < 3 * TraceExporter::kMaxWaiting; ++k) exporter->add(a_run());
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
    EXPECT_GT(exporter->lost(), TraceExporter::kMaxWaiting) << "for want of room";
    EXPECT_TRUE(eventually([&] { return exporter->lost() == 3 * TraceExporter::kMaxWaiting; })) << exporter->lost();
    EXPECT_EQ(exporter->sent(), 0u);
  }
}

TEST(TraceExporter, ACollectorThatDoesNotAnswerDoesNotHoldTheEnd) {
  test::HttpCollector collector{""};  // closes without an answer
  const auto start = std::chrono::steady_clock::now();
  {
    TraceExporter exporter{*parse_otlp_url(collector.url()), 1, "burn-test 4.5.6"};
    for (std::size_t k = 0; k < TraceExporter::kMaxWaiting; ++k) exporter.add(a_run());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, TraceExporter::kAtEnd + TraceExporter::kTimeout + 5s);
}

}  // namespace
}  // namespace burn::daemon
