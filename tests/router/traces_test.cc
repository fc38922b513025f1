// One trace from a client through a router to its workers, as a collector gets it.
#include <cstdlib>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/trace/span_exporter.h"
#include "tests/router/routed.h"
#include "tests/session/programs.h"
#include "tests/support/eventually.h"
#include "tests/support/http_collector.h"
#include "tests/support/span_list.h"

namespace burn::router {
namespace {

using namespace std::chrono_literals;
using session::add_program;
using session::tensor;
using test::find_span;
using test::PostedSpan;

const TraceContext kStep{
    .trace_high = 0x4bf92f3577b34da6, .trace_low = 0xa3ce929d0e0e4736, .span = 0x77, .is_sampled = true};
constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
constexpr const char* kSpan = "0000000000000077";

class Traces : public ::testing::Test {
 protected:
  server::ServerOptions traced_worker(std::uint64_t one_in = 1'000'000) {
    auto options = worker_options();
    options.otlp = collector_.url();
    options.trace_one_in = one_in;
    return options;
  }
  RouterOptions traced_router(std::vector<std::string> workers) {
    auto options = router_options(std::move(workers));
    options.otlp = collector_.url();
    options.trace_one_in = 1'000'000;
    return options;
  }
  // Spans of a client go to the same collector.
  std::unique_ptr<net::RemoteSession> traced_client(const std::string& url) {
    client_ = std::make_shared<net::SpanExporter>(net::SpanExporter::Options{
        .url = *net::parse_otlp_url(collector_.url()), .one_in = 1'000'000, .resource = net::resource_of("client 1")});
    return connect(url, {.spans = client_});
  }
  static void define(proto::Session& session, proto::WriteOptions options = {}) {
    ASSERT_TRUE(session.define(1, add_program({4}), {}).ok());
    ASSERT_TRUE(session.write(1, tensor({4}, {1, 2, 3, 4}), options).ok());
  }
  static void run(proto::Session& session, const TraceContext& trace, proto::TensorId output = 9) {
    ASSERT_TRUE(session.run({.program = 1, .inputs = {1, 1}, .first_output = output, .trace = trace}).ok());
    ASSERT_TRUE(read(session, output).ok());
  }
  // Those of the trace, once there are so many.
  std::vector<PostedSpan> wait_for(std::size_t count) {
    std::vector<PostedSpan> spans;
    const auto are_there = [&] {
      spans = test::posted_spans(collector_.bodies());
      std::erase_if(spans, [](const PostedSpan& span) { return span.trace != kTrace; });
      return spans.size() >= count;
    };
    EXPECT_TRUE(test::eventually(are_there, 20s)) << collector_.bodies();
    EXPECT_EQ(spans.size(), count) << collector_.bodies();
    return spans;
  }

  test::HttpCollector collector_;
  std::shared_ptr<net::SpanExporter> client_;
};

TEST_F(Traces, ARunThroughARouterIsATreeFromTheClientsSpanToTheWorkers) {
  server::Server worker{traced_worker()};
  Router router{traced_router({worker.url()})};
  const auto session = traced_client(router.url());
  define(*session);
  run(*session, kStep);
  session->close();
  const auto spans = wait_for(5);
  const auto client = find_span(spans, kTrace, "client", "call");
  const auto passed_on = find_span(spans, kTrace, "burn-router", "call");
  const auto run = find_span(spans, kTrace, "burn-server", "run");
  EXPECT_EQ(client.parent, kSpan);
  EXPECT_EQ(passed_on.parent, client.id);
  EXPECT_EQ(run.parent, passed_on.id);
  EXPECT_EQ(find_span(spans, kTrace, "burn-server", "queue").parent, run.id);
  EXPECT_EQ(find_span(spans, kTrace, "burn-server", "execute").parent, run.id);
  EXPECT_LE(client.begin, passed_on.begin);
  EXPECT_LE(passed_on.begin, run.end);
}

TEST_F(Traces, ARunThatIsSplitHasASpanOfTheRouterAndOneForEachWorker) {
  server::Server a{traced_worker()}, b{traced_worker()};
  Router router{traced_router({a.url(), b.url()})};
  const auto session = traced_client(router.url());
  define(*session, {.batch_axis = 0});
  run(*session, kStep);
  session->close();
  // call; run, queue, split, send of the router; two calls; run, queue, execute of each worker
  const auto spans = wait_for(13);
  const auto client = find_span(spans, kTrace, "client", "call");
  const auto split = find_span(spans, kTrace, "burn-router", "run");
  EXPECT_EQ(client.parent, kSpan);
  EXPECT_EQ(split.parent, client.id);
  for (const auto* part : {"queue", "split", "send"})
    EXPECT_EQ(find_span(spans, kTrace, "burn-router", part).parent, split.id) << part;
  std::vector<std::string> calls, called_by;
  for (const auto& span : spans) {
    if (span.service == "burn-router" && span.name == "call") {
      EXPECT_EQ(span.parent, split.id);
      calls.push_back(span.id);
    }
    if (span.service == "burn-server" && span.name == "run") called_by.push_back(span.parent);
  }
  EXPECT_EQ(calls.size(), 2u);
  EXPECT_THAT(called_by, testing::UnorderedElementsAreArray(calls));
}

TEST_F(Traces, ARouterWithoutACollectorPassesTheContextOn) {
  server::Server worker{traced_worker()};
  Router router{router_options({worker.url()})};
  const auto session = connect(router.url());
  define(*session);
  run(*session, kStep);
  const auto spans = wait_for(3);
  EXPECT_EQ(find_span(spans, kTrace, "burn-server", "run").parent, kSpan);
}

TEST_F(Traces, ARunThatItsClientDoesNotRecordIsNotRecordedByTheWorkerEither) {
  server::Server worker{traced_worker(1)};  // which would record every run
  const auto session = connect(worker.url());
  define(*session);
  auto unsampled = kStep;
  unsampled.is_sampled = false;
  run(*session, unsampled, 9);
  run(*session, kStep, 10);
  wait_for(3);
}

}  // namespace
}  // namespace burn::router
