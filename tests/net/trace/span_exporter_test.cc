// How spans get to a collector, and which runs have some.
#include "net/trace/span_exporter.h"

#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/http_collector.h"

namespace burn::net {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::vector<Span> a_run() {
  return {{.trace = new_trace(), .id = new_span_id(), .kind = Span::Kind::server, .name = "run"}};
}

SpanExporter::Options to(const std::string& url, std::uint64_t one_in = 1) {
  return {.url = *parse_otlp_url(url), .one_in = one_in, .resource = resource_of("burn test 4.5.6")};
}
const std::string kNothingThere = "http://127.0.0.1:1";

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

TEST(SpanExporter, OneRunInSoManyIsChosenForATraceOfItsOwn) {
  SpanExporter exporter{to(kNothingThere, 4)};
  int chosen = 0;
  for (int k = 0; k < 100; ++k) {
    const auto trace = exporter.choose({});
    if (!trace) continue;
    ++chosen;
    EXPECT_TRUE(trace->is_sampled);
    EXPECT_EQ(trace->span, 0u) << "nothing is above it";
  }
  EXPECT_EQ(chosen, 25);
}

TEST(SpanExporter, ACallersContextDecidesWhetherItsRunsAreRecorded) {
  SpanExporter exporter{to(kNothingThere, 2)};
  const TraceContext sampled{.trace_high = 1, .trace_low = 2, .span = 3, .is_sampled = true};
  auto unsampled = sampled;
  unsampled.is_sampled = false;
  for (int k = 0; k < 100; ++k) {
    EXPECT_EQ(exporter.choose(sampled), sampled);
    EXPECT_EQ(exporter.choose(unsampled), std::nullopt);
  }
  EXPECT_EQ(exporter.lost(), 0u);
}

TEST(SpanExporter, CallersCannotAskForMoreThanAThousandRunsASecond) {
  SpanExporter exporter{to(kNothingThere)};
  const TraceContext sampled{.trace_high = 1, .trace_low = 2, .span = 3, .is_sampled = true};
  std::uint64_t chosen = 0;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t k = 0; k < 10 * SpanExporter::kMaxAsked; ++k) chosen += exporter.choose(sampled) ? 1 : 0;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LE(chosen, static_cast<std::uint64_t>(seconds + 1) * SpanExporter::kMaxAsked);
  EXPECT_GE(chosen, SpanExporter::kMaxAsked);
  EXPECT_EQ(exporter.lost(), 10 * SpanExporter::kMaxAsked - chosen);
  EXPECT_TRUE(exporter.choose({})) << "the daemon's own choice goes on";
}

TEST(SpanExporter, SendsAllThatWaitsAlsoAtItsEnd) {
  test::HttpCollector collector;
  {
    SpanExporter exporter{to(collector.url())};
    for (int k = 0; k < 300; ++k) exporter.add(a_run());
    EXPECT_TRUE(eventually([&] { return exporter.sent() == 300; })) << exporter.sent();
    exporter.add(a_run());
    exporter.stop();
    EXPECT_EQ(exporter.sent(), 301u);
    exporter.add(a_run());
    EXPECT_EQ(exporter.lost(), 1u) << "it has ended";
  }
  EXPECT_EQ(count(collector.bodies(), R"("name":"run")"), 301u);
  const auto requests = collector.requests();
  EXPECT_LE(requests.size(), 5u) << "runs are sent together";
  EXPECT_THAT(requests[0].head, testing::StartsWith("POST /v1/traces HTTP/1.1\r\n"));
  EXPECT_THAT(requests[0].head, HasSubstr("\r\nContent-Type: application/json\r\n"));
  EXPECT_THAT(requests[0].body, HasSubstr(R"("value":{"stringValue":"burn test"})"));
  EXPECT_THAT(requests[0].body, HasSubstr(R"("value":{"stringValue":"4.5.6"})"));
}

TEST(SpanExporter, WhatACollectorDoesNotTakeIsLostAndHoldsNothingUp) {
  test::HttpCollector collector{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"};
  std::mutex mutex;
  std::vector<std::string> said;
  auto options = to(collector.url());
  options.on_change = [&](const Status& status) {
    const std::lock_guard lock{mutex};
    said.push_back(status.message());
  };
  SpanExporter refused{options};
  SpanExporter alone{to(kNothingThere)};
  for (auto* exporter : {&refused, &alone}) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t k = 0; k < 3 * SpanExporter::kMaxWaiting; ++k) exporter->add(a_run());
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
    EXPECT_GT(exporter->lost(), SpanExporter::kMaxWaiting) << "for want of room";
    EXPECT_TRUE(eventually([&] { return exporter->lost() == 3 * SpanExporter::kMaxWaiting; })) << exporter->lost();
    EXPECT_EQ(exporter->sent(), 0u);
  }
  const std::lock_guard lock{mutex};
  EXPECT_THAT(said, testing::ElementsAre("it answers with status 503")) << "once";
}

TEST(SpanExporter, ACollectorThatDoesNotAnswerDoesNotHoldTheEnd) {
  test::HttpCollector collector{""};  // closes without an answer
  const auto start = std::chrono::steady_clock::now();
  {
    SpanExporter exporter{to(collector.url())};
    for (std::size_t k = 0; k < SpanExporter::kMaxWaiting; ++k) exporter.add(a_run());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, SpanExporter::kAtEnd + SpanExporter::kTimeout + 5s);
}

}  // namespace
}  // namespace burn::net
