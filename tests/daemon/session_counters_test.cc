// What becomes of clients, counted.
#include "daemon/session_counters.h"

#include <gtest/gtest.h>

#include "daemon/session_reaper.h"
#include "tests/daemon/fake_host.h"

namespace burn::daemon {
namespace {

using net::SessionEnd;

class SessionCountersTest : public testing::Test {
 protected:
  FakeLine connect(Status full = {}) const {
    FakeLine line;
    line.handler = std::make_shared<net::Connection>(
        line.channel, host_, [](const auto&) {}, std::move(full));
    return line;
  }
  std::uint64_t closed(SessionEnd how) const { return host_->counters().closed(how); }
  std::uint64_t refused(Refusal why) const { return host_->counters().refused(why); }

  std::shared_ptr<FakeHost> host_ = std::make_shared<FakeHost>(std::chrono::seconds{30});
};

TEST_F(SessionCountersTest, SessionsEndInOneWayEach) {
  for (int i = 0; i < 3; ++i) {
    const auto line = connect();
    line.enter();
    line.send(proto::Close{});
    line.cut();
  }
  const auto lost = connect();
  lost.enter();
  lost.cut();
  const auto wrong = connect();
  wrong.enter();
  wrong.send(proto::Hello{.client = "test"});  // a second one
  wrong.cut();
  EXPECT_EQ(host_->counters().opened(), 5u);
  EXPECT_EQ(closed(SessionEnd::client), 3u);
  EXPECT_EQ(closed(SessionEnd::connection), 1u);
  EXPECT_EQ(closed(SessionEnd::rule), 1u);
}

TEST_F(SessionCountersTest, ASessionThatWaitsIsNotOver) {
  const auto line = connect();
  line.enter({.client = "test", .lease_seconds = 30});
  line.cut();
  EXPECT_EQ(closed(SessionEnd::connection), 0u);
  SessionReaper::dispose(host_->leases().take_all(), SessionEnd::lease, "over", *host_);
  EXPECT_EQ(closed(SessionEnd::lease), 1u);
}

TEST_F(SessionCountersTest, RefusalsHaveAReason) {
  connect(resource_exhausted("there are 7 connections")).send(proto::Hello{.client = "test"});
  connect().send(proto::Hello{.version = proto::kProtocolVersion + 1});
  connect().send(proto::Hello{.client = "test", .device = 9});
  connect().cut();
  EXPECT_EQ(refused(Refusal::limit), 1u);
  EXPECT_EQ(refused(Refusal::version), 1u);
  EXPECT_EQ(refused(Refusal::session), 1u);
  EXPECT_EQ(refused(Refusal::left), 1u);
  EXPECT_EQ(host_->counters().opened(), 0u);
}

TEST(RefusalOf, TellsTheServersEndFromALostConnection) {
  EXPECT_EQ(refusal_of(SessionEnd::drain, unavailable("the server is shutting down")), Refusal::draining);
  EXPECT_EQ(refusal_of(SessionEnd::connection, unavailable("reset")), Refusal::left);
  EXPECT_EQ(refusal_of(SessionEnd::rule, {StatusCode::unauthenticated, "a token is asked for here"}), Refusal::token);
  EXPECT_EQ(refusal_of(SessionEnd::rule, {StatusCode::deadline_exceeded, "there was no hello"}), Refusal::no_hello);
  EXPECT_EQ(refusal_of(SessionEnd::rule, data_loss("cut")), Refusal::protocol);
}

}  // namespace
}  // namespace burn::daemon
