// What a server may not say to a RemoteSession.
#include <functional>

#include <gmock/gmock.h>

#include "tests/net/remote_session.h"

namespace burn::test {
namespace {

using testing::HasSubstr;

struct Lie {
  std::string name;
  std::function<void(ScriptedServer&, std::uint64_t request)> tell;
};

class LyingServer : public testing::TestWithParam<Lie> {};

TEST_P(LyingServer, LosesTheConnection) {
  ScriptedServer server;
  const auto session = server.welcome(kInfo);
  ReadOutcome read;
  session->read(1, read.callback());
  const auto request = server.expect<proto::Read>().request;
  GetParam().tell(server, request);
  const auto result = read.get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code(), StatusCode::unavailable);
  EXPECT_THAT(result.status().message(),
              HasSubstr("lost connection to test://server: the server broke the protocol: "));
  EXPECT_FALSE(session->run({}).ok());
  EXPECT_TRUE(server.closed_by_client());
}

INSTANTIATE_TEST_SUITE_P(, LyingServer,
                         testing::Values(Lie{"Noise", [](auto& s, auto) { s.say_bytes(counting(100).bytes); }},
                                         Lie{"SecondWelcome",
                                             [](auto& s, auto) {
                                               s.send(proto::Welcome{proto::kProtocolVersion, 0, kInfo});
                                             }},
                                         Lie{"ClientFrame", [](auto& s, auto) { s.send(proto::Release{{1}}); }},
                                         Lie{"AckOfTheFuture", [](auto& s, auto) { s.send(proto::Ack{2}); }},
                                         Lie{"AckOfThePast",
                                             [](auto& s, auto) {
                                               s.send(proto::Ack{1});
                                               s.send(proto::Ack{0});
                                             }},
                                         Lie{"CreditWithoutEnd",
                                             [](auto& s, auto) { s.send(proto::Credit{~std::uint64_t{0}}); }},
                                         Lie{"DataForNoRequest",
                                             [](auto& s, auto r) {
                                               s.send(proto::Data{r + 1, bytes_type(1)}, counting(1).bytes);
                                             }},
                                         Lie{"DoneForNoRequest",
                                             [](auto& s, auto r) {
                                               s.send(proto::Done{r + 1, {}});
                                             }},
                                         Lie{"ReportForNoQuestion",
                                             [](auto& s, auto r) {
                                               s.send(proto::StatsReport{r + 1, {}, {}});
                                             }},
                                         Lie{"AddressForNoQuestion",
                                             [](auto& s, auto r) {
                                               s.send(proto::GroupAddress{r + 1, {}, "127.0.0.1:1"});
                                             }},
                                         Lie{"GroupDoneForARead",
                                             [](auto& s, auto r) {
                                               s.send(proto::GroupDone{r, {}});
                                             }},
                                         Lie{"ReportForARead",
                                             [](auto& s, auto r) {
                                               s.send(proto::StatsReport{r, {}, {}});
                                             }},
                                         Lie{"ReadThatIsDone",
                                             [](auto& s, auto r) {
                                               s.send(proto::Done{r, {}});
                                             }},
                                         Lie{"TooFewBytes",
                                             [](auto& s, auto r) {
                                               s.send(proto::Data{r, bytes_type(10)}, counting(9).bytes);
                                             }},
                                         Lie{"TooManyBytes",
                                             [](auto& s, auto r) {
                                               s.send(proto::Data{r, bytes_type(10)}, counting(11).bytes);
                                             }},
                                         Lie{"TooLarge",
                                             [](auto& s, auto r) {
                                               s.send(proto::Data{r, bytes_type((1 << 30) + 1)});
                                             }},
                                         Lie{"ChunkUnannounced",
                                             [](auto& s, auto r) {
                                               s.send(proto::Chunk{r, 0}, counting(1).bytes);
                                             }},
                                         Lie{"ChunkWithGap",
                                             [](auto& s, auto r) {
                                               s.send(proto::Data{r, bytes_type(100'000)});
                                               s.send(proto::Chunk{r, 1}, counting(1).bytes);
                                             }},
                                         Lie{"ChunkTwice",
                                             [](auto& s, auto r) {
                                               s.send(proto::Data{r, bytes_type(100'000)});
                                               for (int i = 0; i < 2; ++i)
                                                 s.send(proto::Chunk{r, 0}, counting(1).bytes);
                                             }},
                                         Lie{"ChunkBeyond",
                                             [](auto& s, auto r) {
                                               s.send(proto::Data{r, bytes_type(100'000)});
                                               s.send(proto::Chunk{r, 0}, counting(100'001).bytes);
                                             }},
                                         Lie{"DataTwice",
                                             [](auto& s, auto r) {
                                               for (int i = 0; i < 2; ++i) s.send(proto::Data{r, bytes_type(100'000)});
                                             }}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace burn::test
