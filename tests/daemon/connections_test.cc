// A service's parts, around connections that end in memory: ConnectionAcceptor, HandshakeTimer, Drain, SessionReaper.
#include <chrono>
#include <future>
#include <thread>

#include <gtest/gtest.h>

#include "daemon/connection_acceptor.h"
#include "daemon/drain.h"
#include "daemon/handshake_timer.h"
#include "daemon/session_reaper.h"
#include "tests/daemon/fake_host.h"
#include "tests/session/programs.h"

namespace burn::daemon {
namespace {

using namespace std::chrono_literals;

template <typename Condition>
bool soon(Condition condition) {
  for (const auto deadline = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < deadline;) {
    if (condition()) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

class ConnectionsTest : public testing::Test {
 protected:
  ~ConnectionsTest() override {
    for (const auto& line : lines_) line.cut();
    reaper_.stop();
    for (const auto& session : host_->leases().take_all()) session->dispose();
  }
  FakeLine connect() {
    FakeLine line;
    line.handler = acceptor_.accept(line.channel);
    if (line.handler) lines_.push_back(line);
    return line;
  }
  // A session in a run that waits for `gate`.
  FakeLine busy(session::Gate& gate) {
    host_->device->on_run = [&gate](const ir::Program&) {
      gate.pass();
      return Status{};
    };
    auto line = connect();
    line.enter();
    line.send(proto::DefineProgram{1, session::add_program({2})}, 1);
    line.handler->on_frame(proto::shared(proto::to_string(
        proto::encode({2, proto::Write{1, {ir::DType::f32, {2}}}, session::tensor({2}, {1, 2}).bytes}))));
    line.send(proto::RunProgram{{.program = 1, .inputs = {1, 1}, .first_output = 2}}, 3);
    gate.await(1);
    return line;
  }

  std::shared_ptr<FakeHost> host_ = std::make_shared<FakeHost>(30s);
  SessionReaper reaper_{host_};
  ConnectionAcceptor acceptor_{host_, [this](auto ended) { reaper_.add(std::move(ended)); }};
  std::vector<FakeLine> lines_;
};

// --- ConnectionAcceptor ----------------------------------------------------------------------------------------------

TEST_F(ConnectionsTest, AConnectionIsOpenUntilNothingMoreComes) {
  const auto line = connect();
  connect();
  EXPECT_EQ(acceptor_.count(), 2u);
  line.cut();
  EXPECT_EQ(acceptor_.count(), 1u);
  EXPECT_TRUE(soon([&] { return reaper_.connections() == 0; }));
  EXPECT_FALSE(acceptor_.wait_until_empty(10ms));
  lines_[1].cut();
  EXPECT_TRUE(acceptor_.wait_until_empty(0ms));
}

TEST_F(ConnectionsTest, AfterStopNoneIsAccepted) {
  connect();
  acceptor_.stop();
  EXPECT_EQ(connect().handler, nullptr);
  EXPECT_EQ(acceptor_.open().size(), 1u);
}

TEST_F(ConnectionsTest, WhereThereIsNoPlaceTheClientIsToldWhy) {
  FakeLine line;
  line.handler = acceptor_.accept_returning(line.channel, resource_exhausted("full"));
  lines_.push_back(line);
  line.send(proto::Hello{.client = "test"});
  EXPECT_EQ(line.channel->expect<proto::Close>().status, resource_exhausted("full"));
}

// --- HandshakeTimer --------------------------------------------------------------------------------------------------

TEST_F(ConnectionsTest, TheTimerEndsHandshakesThatTakeTooLong) {
  const auto silent = connect(), welcome = connect();
  welcome.enter();
  const HandshakeTimer timer{10s};
  const auto since = acceptor_.open()[0]->since();
  timer.end_overdue(acceptor_.open(), since + 9s);
  EXPECT_FALSE(silent.channel->is_closed());
  timer.end_overdue(acceptor_.open(), since + 11s);
  EXPECT_EQ(silent.channel->expect<proto::Close>().status.code(), StatusCode::deadline_exceeded);
  EXPECT_FALSE(welcome.channel->is_closed());
}

// --- Drain -----------------------------------------------------------------------------------------------------------

Drain drain_for(std::chrono::milliseconds time) { return Drain{Drain::Clock::now() + time}; }

TEST_F(ConnectionsTest, ADrainWaitsForAnswersAndTakesNoFurtherWork) {
  session::Gate gate;
  const auto line = busy(gate);
  const auto open = acceptor_.open();
  EXPECT_FALSE(drain_for(20ms).wait_for_answers(open)) << "the run is not over";
  line.send(proto::Write{7, {ir::DType::f32, {2}}}, 4);  // not taken, as the drain has begun
  gate.open();
  EXPECT_TRUE(drain_for(20s).wait_for_answers(open));
  Drain::close(open, unavailable("the server is shutting down"));
  while (const auto sent = line.channel->next()) {
    const auto* ack = std::get_if<proto::Ack>(&sent->frame.body);
    EXPECT_LE(ack ? ack->seq : 0, 3u);
  }
  EXPECT_TRUE(line.channel->is_closed());
}

TEST_F(ConnectionsTest, ADrainDoesNotWaitForIdleConnections) {
  connect();
  connect().enter();
  EXPECT_TRUE(drain_for(20s).wait_for_answers(acceptor_.open()));
}

// --- SessionReaper ---------------------------------------------------------------------------------------------------

TEST_F(ConnectionsTest, OnlyTheReaperWaitsForTheRunOfASessionThatIsOver) {
  session::Gate gate;
  const auto line = busy(gate);
  line.send(proto::Close{});
  line.cut();  // returns while the run goes on
  EXPECT_EQ(acceptor_.count(), 0u);
  EXPECT_EQ(reaper_.connections(), 1u);
  gate.open();
  EXPECT_TRUE(soon([&] { return reaper_.connections() == 0; }));
  EXPECT_TRUE(soon([&] { return host_->device->in_use == 0; }));
}

TEST_F(ConnectionsTest, TheReaperLogsAndEndsExpiredSessions) {
  const auto line = connect();
  line.enter({.client = "test", .lease_seconds = 30});
  line.cut();
  auto lost = host_->leases().take_all();
  ASSERT_EQ(lost.size(), 1u);
  reaper_.add_expired(std::move(lost));
  EXPECT_TRUE(soon([&] { return host_->has_logged("closed: its client has not come back"); }));
}

TEST_F(ConnectionsTest, TheReaperDisposesOfAllBeforeItStops) {
  for (int i = 0; i < 10; ++i) connect().cut();
  reaper_.stop();
  EXPECT_EQ(reaper_.connections(), 0u);
}

}  // namespace
}  // namespace burn::daemon
