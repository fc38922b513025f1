// A session whose server has not answered yet: which calls are accepted, and how they end.
#include <atomic>
#include <thread>

#include <gmock/gmock.h>

#include "tests/net/remote_session.h"
#include "tests/net/support.h"

namespace burn::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class BeforeWelcome : public testing::Test {
 protected:
  BeforeWelcome() { server_.options.welcome_wait = 1ms; }

  // Connected as far as the hello.
  std::unique_ptr<net::RemoteSession> begin() {
    auto session = server_.connect().get();
    server_.expect<proto::Hello>();
    return *std::move(session);
  }
  void welcome(std::uint64_t extensions = 0) {
    server_.send(proto::Welcome{proto::kProtocolVersion, 0, kInfo, 0, "", {}, extensions});
  }

  ScriptedServer server_;
};

TEST_F(BeforeWelcome, CallsAreKeptAndSentWithIt) {
  const auto session = begin();
  EXPECT_EQ(session->known_info(), nullptr);
  EXPECT_TRUE(session->traits().is_remote);
  EXPECT_FALSE(session->traits().round_trip.has_value());
  ASSERT_TRUE(session->write(1, counting(10)).ok());
  ASSERT_TRUE(session->release({1}).ok());
  EXPECT_TRUE(server_.is_silent()) << "the session to write to is not known yet";
  welcome();
  proto::Frame write, release;
  EXPECT_EQ(server_.expect<proto::Write>(&write).id, 1u);
  server_.expect<proto::Release>(&release);
  EXPECT_EQ(write.seq, 1u);
  EXPECT_EQ(release.seq, 2u);
  EXPECT_EQ(session->known_info()->session, kInfo.session);
  EXPECT_TRUE(session->traits().round_trip.has_value());
}

TEST_F(BeforeWelcome, StatsAreAskedForWithIt) {
  const auto session = begin();
  StatsOutcome stats;
  session->stats(stats.callback());
  EXPECT_TRUE(server_.is_silent());
  welcome(proto::kExtensions);
  server_.send(proto::StatsReport{server_.expect<proto::Stats>().request, {}, {.queued = 2}});
  const auto answer = stats.get();
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->queued, 2u);
}

TEST_F(BeforeWelcome, StatsAreRefusedWhenAnOlderServerWelcomes) {
  const auto session = begin();
  StatsOutcome stats;
  session->stats(stats.callback());
  welcome();
  EXPECT_THAT(stats.get().status().message(), HasSubstr("does not know stats"));
  EXPECT_TRUE(server_.is_silent());
}

TEST_F(BeforeWelcome, LargeTensorsAreKeptAndSentWithinTheCredit) {
  const auto session = begin();
  ASSERT_TRUE(session->write(1, counting(4 << 20)).ok());
  welcome();
  server_.expect<proto::Write>();
  for (int i = 0; i < 3; ++i) server_.expect<proto::Chunk>();  // each 1 MiB; the credit is 3 MiB
  EXPECT_TRUE(server_.is_silent());
  server_.send(proto::Credit{1 << 20});
  server_.expect<proto::Chunk>();
}

TEST_F(BeforeWelcome, NoMoreIsKeptThanAWindowAndTheServersIsKeptTo) {
  const auto session = begin();
  for (std::uint64_t i = 0; i < net::Window::kMaxBeforeWelcome; ++i) ASSERT_TRUE(session->release({i}).ok());
  auto beyond = std::async(std::launch::async, [&] { return session->release({1}); });
  EXPECT_EQ(beyond.wait_for(30ms), std::future_status::timeout);
  welcome();
  for (std::uint64_t i = 0; i < kInfo.max_in_flight; ++i) server_.expect<proto::Release>();
  EXPECT_TRUE(server_.is_silent());
  session->close();
  EXPECT_FALSE(beyond.get().ok());
}

TEST_F(BeforeWelcome, ARefusalIsTheErrorOfAllThatWasCalledAndIsToBe) {
  const auto session = begin();
  ReadOutcome read;
  session->read(1, read.callback());
  server_.send(proto::Close{{StatusCode::unauthenticated, "no such token"}});
  const auto result = read.get();
  EXPECT_EQ(result.status().code(), StatusCode::unauthenticated);
  EXPECT_EQ(result.status().message(), "test://server: no such token");
  EXPECT_EQ(session->release({1}).message(), "test://server: no such token");
  EXPECT_EQ(session->health().message(), "test://server: no such token");
  EXPECT_EQ(session->info(), proto::SessionInfo{}) << "of nothing";
}

TEST_F(BeforeWelcome, AServerThatVanishesIsTheErrorToo) {
  const auto session = begin();
  ReadOutcome read;
  session->read(1, read.callback());
  server_.close(unavailable("Connection reset by peer"));
  EXPECT_EQ(read.get().status().message(), "lost connection to test://server: Connection reset by peer");
}

TEST_F(BeforeWelcome, ACallerThatAsksAboutTheServerWaits) {
  const auto session = begin();
  auto asked = std::async(std::launch::async, [&] { return session->info(); });
  EXPECT_EQ(asked.wait_for(30ms), std::future_status::timeout);
  welcome();
  EXPECT_EQ(asked.get().session, kInfo.session);
}

TEST_F(BeforeWelcome, AClientThatLeavesSaysSo) {
  auto session = begin();
  session.reset();
  server_.expect<proto::Close>();
  EXPECT_TRUE(server_.closed_by_client());
}

// Both the connecting thread and the channel's thread notice the end. A callback that ran after close() would use
// destroyed objects.
TEST_F(BeforeWelcome, ClosingWaitsForTheCallbacksWhicheverThreadEndsIt) {
  for (int round = 0; round < 100; ++round) {
    ScriptedServer server;
    server.options.welcome_wait = 0ms;
    const auto session = *server.connect().get();
    server.expect<proto::Hello>();
    std::atomic<bool> is_called = false;
    session->sync([&](const Status&) {
      std::this_thread::sleep_for(2ms);
      is_called = true;
    });
    session->close();
    ASSERT_TRUE(is_called) << "round " << round;
  }
}

TEST_F(BeforeWelcome, AServerThatIsNearIsWaitedFor) {
  server_.options.welcome_wait = 20s;
  auto session = server_.connect();
  server_.expect<proto::Hello>();
  server_.send(proto::Close{{StatusCode::unauthenticated, "no such token"}});
  EXPECT_EQ(session.get().status().message(), "test://server: no such token");
}

TEST_F(BeforeWelcome, ABreachOfTheProtocolIsTheEnd) {
  server_.closes_at_once = false;  // nor does the server close when the client does
  const auto start = std::chrono::steady_clock::now();
  const auto session = begin();
  ReadOutcome read;
  session->read(1, read.callback());
  server_.send(proto::Ack{0});
  EXPECT_THAT(read.get().status().message(), HasSubstr("the server broke the protocol: a ack before the welcome"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 1s);
}

// The server is reachable, and another attempt would find the same server.
TEST(Connect, DialsAServerThatBreaksTheProtocolBeforeItsWelcomeOnce) {
  TestAcceptor acceptor{false};
  acceptor.prepare = [](Served& served) {
    served.frame_hook = [&served](const SharedBytes& /*hello*/) {
      served.channel->send(proto::encode({0, proto::Ack{0}, {}}), proto::Lane::control);
    };
  };
  for (const auto transport : {Transport::websocket, Transport::grpc}) {
    const auto before = acceptor.client_count();
    const auto listener = *listen(transport, acceptor);
    const auto start = std::chrono::steady_clock::now();
    const auto session = net::connect(listener->url());
    ASSERT_FALSE(session.ok());
    EXPECT_THAT(session.status().message(), HasSubstr("the server broke the protocol: "));
    EXPECT_EQ(acceptor.client_count() - before, 1u);
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
  }
}

}  // namespace
}  // namespace burn::test
