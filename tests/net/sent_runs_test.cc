// Contexts of traces on the wire, and the spans of a client's runs.
#include "net/remote/sent_runs.h"

#include <gmock/gmock.h>

#include "tests/net/remote_session.h"
#include "tests/support/eventually.h"
#include "tests/support/span_list.h"

namespace burn::test {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::SizeIs;

const TraceContext kCaller{.trace_high = 1, .trace_low = 2, .span = 3, .is_sampled = true};

class SentRunsTest : public RemoteSessionTest {
 protected:
  std::unique_ptr<net::RemoteSession> welcome(bool chooses) {
    list_ = std::make_shared<SpanList>(chooses);
    server_.options.spans = list_;
    return server_.welcome(kInfo);
  }

  std::shared_ptr<SpanList> list_;
};

TEST_F(SentRunsTest, WithoutASinkAContextGoesOnAsItIs) {
  const auto session = server_.welcome(kInfo);
  EXPECT_TRUE(session->run({.program = 1, .first_output = 1, .trace = kCaller}).ok());
  EXPECT_TRUE(session->run({.program = 1, .first_output = 2}).ok());
  EXPECT_EQ(server_.expect<proto::RunProgram>().run.trace, kCaller);
  EXPECT_FALSE(server_.expect<proto::RunProgram>().run.trace.exists());
}

TEST_F(SentRunsTest, ARunIsASpanUntilTheServerHasExecutedIt) {
  const auto session = welcome(true);
  EXPECT_TRUE(session->run({.program = 1, .first_output = 1}).ok());
  EXPECT_TRUE(session->run({.program = 1, .first_output = 2, .trace = kCaller}).ok());
  const auto first = server_.expect<proto::RunProgram>().run.trace;
  const auto second = server_.expect<proto::RunProgram>().run.trace;
  EXPECT_TRUE(first.exists() && first.is_sampled);
  EXPECT_EQ(second.trace_low, kCaller.trace_low);
  EXPECT_NE(second.span, kCaller.span) << "between the caller's and the server's is this one";
  EXPECT_THAT(list_->spans(), IsEmpty());
  server_.send(proto::Ack{1});
  ASSERT_THAT(list_->spans(), SizeIs(1));
  server_.send(proto::Ack{2});
  const auto spans = list_->spans();
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].id, first.span);
  EXPECT_EQ(spans[0].trace.trace_high, first.trace_high);
  EXPECT_EQ(spans[0].trace.span, 0u) << "the trace begins here";
  EXPECT_EQ(spans[1].id, second.span);
  EXPECT_EQ(spans[1].trace, kCaller);
  for (const auto& span : spans) {
    EXPECT_EQ(span.kind, Span::Kind::client);
    EXPECT_EQ(span.name, "call");
    EXPECT_LE(span.begin, span.end);
    EXPECT_EQ(span.result, StatusCode::ok);
  }
}

TEST_F(SentRunsTest, ARunThatIsNotChosenAndOneThatIsNotToBeRecordedHaveNone) {
  const auto session = welcome(false);
  auto unsampled = kCaller;
  unsampled.is_sampled = false;
  EXPECT_TRUE(session->run({.program = 1, .first_output = 1}).ok());
  EXPECT_TRUE(session->run({.program = 1, .first_output = 2, .trace = unsampled}).ok());
  EXPECT_FALSE(server_.expect<proto::RunProgram>().run.trace.exists());
  EXPECT_EQ(server_.expect<proto::RunProgram>().run.trace, unsampled);
  server_.send(proto::Ack{2});
  EXPECT_THAT(list_->spans(), IsEmpty());
}

TEST_F(SentRunsTest, ARunThatWaitsForTheWindowSaysHowLong) {
  const auto session = welcome(true);
  for (proto::TensorId k = 1; k <= 4; ++k) EXPECT_TRUE(session->run({.program = 1, .first_output = k}).ok());
  auto fifth = std::async(std::launch::async, [&] { return session->run({.program = 1, .first_output = 5}); });
  EXPECT_EQ(fifth.wait_for(50ms), std::future_status::timeout);
  server_.send(proto::Ack{4});
  EXPECT_TRUE(fifth.get().ok());
  server_.send(proto::Ack{5});
  const auto spans = list_->spans();
  ASSERT_THAT(spans, SizeIs(5));
  const auto waited = [](const Span& span) { return std::get<std::chrono::nanoseconds>(span.attributes.back().value); };
  EXPECT_EQ(spans[4].attributes.back().key, "burn.wait.window");
  EXPECT_LT(waited(spans[0]), 40ms);
  EXPECT_GE(waited(spans[4]), 40ms);
}

TEST_F(SentRunsTest, ASessionThatIsLostEndsTheSpansWithItsStatus) {
  auto session = welcome(true);
  EXPECT_TRUE(session->run({.program = 1, .first_output = 1}).ok());
  server_.expect<proto::RunProgram>();
  server_.close(unavailable("gone"));
  ASSERT_TRUE(eventually([&] { return list_->spans().size() == 1; }, 20s));
  EXPECT_EQ(list_->spans()[0].result, StatusCode::unavailable);
}

TEST_F(SentRunsTest, ASessionThatIsClosedEndsTheSpansThatNothingIsKnownOf) {
  auto session = welcome(true);
  EXPECT_TRUE(session->run({.program = 1, .first_output = 1}).ok());
  session->close();
  ASSERT_THAT(list_->spans(), SizeIs(1));
  EXPECT_EQ(list_->spans()[0].result, StatusCode::ok);
}

}  // namespace
}  // namespace burn::test
