// Servers that are connected, send frames all the time, and do not answer.
#include <functional>
#include <string>
#include <thread>

#include <gmock/gmock.h>

#include "tests/net/remote_session.h"

namespace burn::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Noise {
  std::string name;
  // Called ten times a second. `request`: of the read that is not answered.
  std::function<void(ScriptedServer&, net::RemoteSession&, std::uint64_t request, int time)> make;
};

class StuckServer : public testing::TestWithParam<Noise> {};

TEST_P(StuckServer, IsGivenUp) {
  ScriptedServer server;
  server.options.answer_timeout_seconds = 1;
  const auto session = server.welcome(kInfo);
  ReadOutcome read;
  session->read(1, read.callback());
  const auto request = server.expect<proto::Read>().request;
  const auto deadline = std::chrono::steady_clock::now() + 15s;
  for (int time = 0; session->health().ok() && std::chrono::steady_clock::now() < deadline; ++time) {
    GetParam().make(server, *session, request, time);
    std::this_thread::sleep_for(100ms);
  }
  EXPECT_EQ(session->health().code(), StatusCode::deadline_exceeded) << session->health().to_string();
  EXPECT_THAT(read.get().status().message(), HasSubstr("has not answered for 1 s (BURN_ANSWER_TIMEOUT)"));
  EXPECT_TRUE(server.closed_by_client());
}

// The frame that the client sends next, if it is still there.
template <typename Kind>
std::optional<Kind> said(ScriptedServer& server) {
  const auto next = server.next(5s);
  if (!next || !std::holds_alternative<Kind>(next->frame.body)) return std::nullopt;
  return std::get<Kind>(next->frame.body);
}

INSTANTIATE_TEST_SUITE_P(
    , StuckServer,
    testing::Values(
        Noise{"GrantsAByte", [](auto& server, auto&, auto, auto) { server.send(proto::Credit{1}); }},
        Noise{"GrantsMoreThanWasSent", [](auto& server, auto&, auto, auto) { server.send(proto::Credit{1 << 20}); }},
        Noise{"SaysAgainWhatIsExecuted", [](auto& server, auto&, auto, auto) { server.send(proto::Ack{1}); }},
        Noise{"AnswersCallersThatAskedLater",
              [](auto& server, auto& session, auto, int time) {
                session.sync([](const Status&) {});
                const auto sync = said<proto::Sync>(server);
                if (!sync) return;
                server.send(proto::Done{sync->request, {}});
                server.send(proto::Ack{static_cast<std::uint64_t>(time) + 2});
              }},
        Noise{"ExecutesWhatWasSaidLater",
              [](auto& server, auto& session, auto, int time) {
                if (!session.release({7}).ok() || !said<proto::Release>(server)) return;
                server.send(proto::Ack{static_cast<std::uint64_t>(time) + 2});
              }},
        Noise{"TakesWhatWasWrittenLater",
              [](auto& server, auto& session, auto, int time) {
                if (time == 0) (void)session.write(9, counting(300'000));
                server.send(proto::Credit{100'000});
              }},
        Noise{"AnswersByTheByte",
              [](auto& server, auto&, auto request, int time) {
                if (time == 0) return server.send(proto::Data{request, bytes_type(300'000)});
                server.send(proto::Chunk{request, static_cast<std::uint64_t>(time) - 1}, counting(1).bytes);
              }}),
    [](const auto& info) { return info.param.name; });

TEST(SlowServer, IsWaitedForWhileItTakesWhatIsWritten) {
  ScriptedServer server;
  server.options.answer_timeout_seconds = 1;
  const auto session = server.welcome(kInfo);
  EXPECT_TRUE(session->write(1, counting(5 << 20)).ok());  // of which 3 MiB are sent at once
  SyncOutcome sync;
  session->sync(sync.callback());
  for (int i = 0; i < 7; ++i) {  // longer than the timeout in all
    std::this_thread::sleep_for(400ms);
    server.send(proto::Credit{700'000});
    ASSERT_TRUE(session->health().ok()) << session->health().to_string();
  }
}

TEST(SlowServer, IsToldHowMuchCreditIsTooMuch) {
  ScriptedServer server;
  const auto session = server.welcome(kInfo);
  server.send(proto::Credit{std::uint64_t{1} << 40});
  EXPECT_THAT(
      session->health().message(),
      HasSubstr("the server broke the protocol: credit for 1099511627776 bytes beside 3145728 that are left; at "
                "most 1073741824 may be"));
  ScriptedServer generous;
  auto info = kInfo;
  info.bulk_credit = std::uint64_t{1} << 63;
  auto connecting = generous.connect();
  generous.expect<proto::Hello>();
  generous.send(proto::Welcome{proto::kProtocolVersion, 0, info});
  EXPECT_THAT(connecting.get().status().message(), HasSubstr("credit for 9223372036854775808 bytes at first"));
}

}  // namespace
}  // namespace burn::test
