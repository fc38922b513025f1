// RemoteSession against a server that the test plays: how it begins, and how it ends.
#include "tests/net/remote_session.h"

#include <thread>

#include <gmock/gmock.h>

namespace burn::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST_F(RemoteSessionTest, SaysHelloAndTakesTheWelcome) {
  auto connecting = server_.connect();
  const auto hello = server_.expect<proto::Hello>();
  EXPECT_EQ(hello.version, proto::kProtocolVersion);
  EXPECT_THAT(hello.client, HasSubstr("burn-cpp"));
  server_.send(proto::Welcome{proto::kProtocolVersion, 0, kInfo});
  const auto session = *connecting.get();
  EXPECT_EQ(session->info(), kInfo);
}

TEST_F(RemoteSessionTest, FailsToConnectWithBothVersions) {
  auto connecting = server_.connect();
  server_.expect<proto::Hello>();
  server_.send(proto::Welcome{7, 0, kInfo});
  const auto session = connecting.get();
  EXPECT_EQ(session.status().code(), StatusCode::failed_precondition);
  EXPECT_EQ(session.status().message(), "test://server speaks protocol 7, this client 2");
}

TEST_F(RemoteSessionTest, FailsToConnectWithTheServersReason) {
  auto connecting = server_.connect();
  server_.expect<proto::Hello>();
  server_.send(proto::Close{{StatusCode::unauthenticated, "no such token"}});
  const auto session = connecting.get();
  EXPECT_EQ(session.status(), (Status{StatusCode::unauthenticated, "test://server: no such token"}));
}

TEST_F(RemoteSessionTest, FailsToConnectToAServerThatIsSilentGoneOrConfused) {
  {
    ScriptedServer silent;
    EXPECT_THAT(silent.connect(0).get().status().message(), HasSubstr("does not complete the handshake"));
  }
  {
    ScriptedServer gone;
    auto connecting = gone.connect();
    gone.expect<proto::Hello>();
    gone.close(unavailable("reset"));
    EXPECT_EQ(connecting.get().status(), unavailable("lost connection to test://server: reset"));
  }
  ScriptedServer confused;
  auto connecting = confused.connect();
  confused.expect<proto::Hello>();
  confused.send(proto::Ack{0});
  EXPECT_THAT(connecting.get().status().message(), HasSubstr("a ack before the welcome"));
}

TEST_F(RemoteSessionTest, FailsEverythingOnceWhenTheConnectionIsLost) {
  const auto session = server_.welcome(kInfo);
  ReadOutcome read;
  SyncOutcome sync;
  session->read(1, read.callback());
  session->sync(sync.callback());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(session->release({1}).ok());
  auto blocked = std::async(std::launch::async, [&] { return session->release({2}); });
  std::this_thread::sleep_for(20ms);
  server_.close(unavailable("the peer went away"));
  const Status lost = unavailable("lost connection to test://server: the peer went away");
  EXPECT_EQ(read.get().status(), lost);
  EXPECT_EQ(sync.get(), lost);
  EXPECT_EQ(blocked.get(), lost);
  EXPECT_EQ(session->run({}), lost);
  EXPECT_EQ(session->write(1, counting(1)), lost);
  ReadOutcome later;
  session->read(1, later.callback());
  EXPECT_EQ(later.get().status(), lost);
  session->close();
  EXPECT_EQ(read.calls(), 1);
  EXPECT_EQ(sync.calls(), 1);
}

TEST_F(RemoteSessionTest, GivesUpAServerThatIsThereAndDoesNotAnswer) {
  server_.options.answer_timeout_seconds = 1;
  const auto session = server_.welcome(kInfo);
  ReadOutcome read;
  SyncOutcome sync;
  session->read(1, read.callback());
  session->sync(sync.callback());
  server_.expect<proto::Read>();
  server_.expect<proto::Sync>();
  server_.send(proto::Ack{2});  // it is there
  for (const Status& status : {read.get().status(), sync.get()}) {
    EXPECT_EQ(status.code(), StatusCode::deadline_exceeded);
    EXPECT_THAT(status.message(), HasSubstr("has not answered for 1 s (BURN_ANSWER_TIMEOUT)"));
  }
  server_.expect<proto::Close>();
  EXPECT_EQ(session->health().code(), StatusCode::deadline_exceeded);
}

TEST_F(RemoteSessionTest, WaitsForAServerThatGetsOnAndWhenNothingIsAsked) {
  server_.options.answer_timeout_seconds = 1;
  const auto session = server_.welcome(kInfo);
  ReadOutcome read;
  session->read(1, read.callback());
  const auto request = server_.expect<proto::Read>().request;
  server_.send(proto::Ack{1});
  server_.send(proto::Data{request, bytes_type(300'000)});
  for (int i = 0; i < 3; ++i) {  // longer than the timeout in all
    std::this_thread::sleep_for(400ms);
    server_.send(proto::Chunk{request, static_cast<std::uint64_t>(i) * 100'000}, counting(100'000).bytes);
  }
  EXPECT_TRUE(read.get().ok());
  std::this_thread::sleep_for(1500ms);
  EXPECT_TRUE(session->health().ok());
}

TEST_F(RemoteSessionTest, SaysWhyTheServerClosed) {
  const auto session = server_.welcome(kInfo);
  SyncOutcome sync;
  session->sync(sync.callback());
  server_.send(proto::Close{unavailable("the server is shutting down")});
  EXPECT_EQ(sync.get(), unavailable("lost connection to test://server: the server is shutting down"));
  EXPECT_TRUE(server_.closed_by_client());
}

TEST_F(RemoteSessionTest, WritesOutWhatWouldMoveACursorInWhatTheServerSays) {
  const auto session = server_.welcome(kInfo);
  ReadOutcome read;
  SyncOutcome sync;
  session->read(1, read.callback());
  session->sync(sync.callback());
  const auto request = server_.expect<proto::Read>().request;
  server_.send(proto::Done{request, invalid_argument("\x1b[2Jall is well\n")});
  EXPECT_EQ(read.get().status(), invalid_argument("\\x1b[2Jall is well\\n"));
  server_.send(proto::Close{unavailable("\x1b[31mgone")});
  EXPECT_EQ(sync.get(), unavailable("lost connection to test://server: \\x1b[31mgone"));
}

TEST_F(RemoteSessionTest, ClosesWithAGoodbyeAndFailsWhatIsOpen) {
  auto session = server_.welcome(kInfo);
  ReadOutcome read;
  session->read(1, read.callback());
  session->close();
  session->close();
  EXPECT_EQ(read.calls(), 1);
  EXPECT_EQ(read.get().status(), unavailable("the session with test://server is closed"));
  EXPECT_FALSE(session->run({}).ok());
  server_.expect<proto::Read>();
  server_.expect<proto::Close>();
  session.reset();
  EXPECT_EQ(read.calls(), 1);
}

TEST_F(RemoteSessionTest, ClosesAlthoughTheServerDoesNot) {
  server_.closes_at_once = false;
  auto session = server_.welcome(kInfo);
  ReadOutcome read;
  session->read(1, read.callback());
  session.reset();
  EXPECT_EQ(read.calls(), 1);
}

TEST_F(RemoteSessionTest, MayBeDestroyedInItsCallback) {
  auto session = server_.welcome(kInfo);
  SyncOutcome first, second;
  session->sync([&](Status status) {
    session.reset();
    first.callback()(status);
  });
  session->sync(second.callback());
  const auto request = server_.expect<proto::Sync>().request;
  server_.send(proto::Done{request, {}});
  EXPECT_TRUE(first.get().ok());
  EXPECT_FALSE(second.get().ok());
}

TEST_F(RemoteSessionTest, MaySayMoreInCallbacksOfTheEnd) {
  const auto session = server_.welcome(kInfo);
  SyncOutcome second;
  session->sync([&](Status) { session->sync(second.callback()); });
  server_.close(unavailable("gone"));
  EXPECT_FALSE(second.get().ok());
}

}  // namespace
}  // namespace burn::test
