// RemoteSession against a server that the test plays: window, credit, answers, and what a server may not say.
#include "net/remote/remote_session.h"

#include <atomic>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>

#include "tests/net/scripted_server.h"

namespace burn::test {
namespace {

using namespace std::chrono_literals;
using ir::DType;
using ir::TensorType;
using testing::HasSubstr;

const proto::SessionInfo kInfo{.server = "script",
                               .session = "s",
                               .devices = {"cpu"},
                               .max_tensor_bytes = 1 << 30,
                               .max_in_flight = 4,
                               .bulk_credit = 3 << 20};

TensorType bytes_type(std::int64_t size) { return {DType::u8, {size}}; }

proto::HostTensor counting(std::size_t size) {
  std::vector<std::uint8_t> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::uint8_t>(i * 7 + (i >> 10));
  return {bytes_type(static_cast<std::int64_t>(size)), SharedBytes::own(std::move(values))};
}

bool same(const SharedBytes& a, const SharedBytes& b) {
  return a.size() == b.size() && std::equal(a.span().begin(), a.span().end(), b.span().begin());
}

// The one result of a callback, and that it is one.
template <typename T>
class Outcome {
 public:
  auto callback() {
    return [state = state_](T value) {
      if (++state->calls == 1) state->promise.set_value(std::move(value));
    };
  }
  T get() {
    auto future = state_->promise.get_future();
    if (future.wait_for(20s) != std::future_status::ready) return unavailable("the callback was not called");
    return future.get();
  }
  int calls() const { return state_->calls; }

 private:
  struct State {
    std::atomic<int> calls = 0;
    std::promise<T> promise;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};
using ReadOutcome = Outcome<Result<proto::HostTensor>>;
using SyncOutcome = Outcome<Status>;

class RemoteSessionTest : public testing::Test {
 protected:
  ScriptedServer server_;
};

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
  server_.send(proto::Close{{StatusCode::unauthenticated, "who are you?"}});
  const auto session = connecting.get();
  EXPECT_EQ(session.status(), (Status{StatusCode::unauthenticated, "test://server: who are you?"}));
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

TEST_F(RemoteSessionTest, NumbersWhatIsOrdered) {
  const auto session = server_.welcome(kInfo);
  EXPECT_TRUE(session->run({.program = 3, .inputs = {1, 2}, .first_output = 9}).ok());
  EXPECT_TRUE(session->release({1, 2}).ok());
  session->sync([](Status) {});
  proto::Frame frame;
  const auto run = server_.expect<proto::RunProgram>(&frame);
  EXPECT_EQ(run.run.first_output, 9u);
  EXPECT_EQ(frame.seq, 1u);
  EXPECT_EQ(server_.expect<proto::Release>(&frame).ids, (std::vector<proto::TensorId>{1, 2}));
  EXPECT_EQ(frame.seq, 2u);
  server_.expect<proto::Sync>(&frame);
  EXPECT_EQ(frame.seq, 3u);
  const auto stats = session->wire_stats();
  EXPECT_EQ(stats.frames_sent, 4u);  // with the hello
  EXPECT_EQ(stats.frames_received, 1u);
  EXPECT_EQ(stats.runs_sent, 1u);
  EXPECT_GT(stats.bytes_sent, 0u);
}

TEST_F(RemoteSessionTest, WaitsWhenTheWindowIsFull) {
  const auto session = server_.welcome(kInfo);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(session->release({1}).ok());
  auto fifth = std::async(std::launch::async, [&] { return session->release({5}); });
  EXPECT_EQ(fifth.wait_for(50ms), std::future_status::timeout);
  for (int i = 0; i < 4; ++i) server_.expect<proto::Release>();
  EXPECT_TRUE(server_.is_silent());
  server_.send(proto::Ack{1});
  EXPECT_TRUE(fifth.get().ok());
  EXPECT_EQ(server_.expect<proto::Release>().ids[0], 5u);
}

TEST_F(RemoteSessionTest, DoesNotWaitInACallback) {
  const auto session = server_.welcome(kInfo);
  SyncOutcome done;
  session->sync([&](Status status) {
    for (std::uint64_t i = 10; i < 20; ++i) EXPECT_TRUE(session->release({i}).ok());
    done.callback()(status);
  });
  const auto request = server_.expect<proto::Sync>().request;
  server_.send(proto::Done{request, {}});  // on this thread: a wait would be for ever
  EXPECT_TRUE(done.get().ok());
  std::uint64_t next = 10;
  for (std::uint64_t ack = 1; ack <= 11; ++ack) {
    while (const auto said = server_.next(10ms)) EXPECT_EQ(std::get<proto::Release>(said->frame.body).ids[0], next++);
    server_.send(proto::Ack{ack});
    EXPECT_LE(next, 10 + ack + 3);  // never beyond the window
  }
  EXPECT_EQ(next, 20u);
}

TEST_F(RemoteSessionTest, WritesSmallTensorsInOneFrame) {
  const auto session = server_.welcome(kInfo);
  const auto tensor = counting(proto::kInlineBytes);
  EXPECT_TRUE(session->write(7, tensor).ok());
  EXPECT_TRUE(session->write(8, {bytes_type(0), {}}).ok());
  proto::Frame frame;
  EXPECT_EQ(server_.expect<proto::Write>(&frame), (proto::Write{7, tensor.type}));
  EXPECT_TRUE(same(frame.payload, tensor.bytes));
  EXPECT_EQ(server_.expect<proto::Write>(&frame).id, 8u);
  EXPECT_TRUE(frame.payload.empty());
}

TEST_F(RemoteSessionTest, WritesLargeTensorsInChunksWithinTheCredit) {
  const auto session = server_.welcome(kInfo);
  const auto tensor = counting((5 << 20) + 123);
  EXPECT_TRUE(session->write(7, tensor).ok());
  EXPECT_EQ(server_.expect<proto::Write>().id, 7u);
  std::vector<std::byte> got;
  std::uint64_t credit = kInfo.bulk_credit;
  while (got.size() < tensor.bytes.size()) {
    while (const auto said = server_.next(20ms)) {
      EXPECT_EQ(said->lane, proto::Lane::bulk);
      EXPECT_EQ(said->frame.seq, 0u);
      EXPECT_EQ(std::get<proto::Chunk>(said->frame.body), (proto::Chunk{7, got.size()}));
      EXPECT_LE(said->frame.payload.size(), proto::kChunkBytes);
      const auto part = said->frame.payload.span();
      ASSERT_LE(part.size(), credit);
      credit -= part.size();
      got.insert(got.end(), part.begin(), part.end());
    }
    credit += 700'000;
    server_.send(proto::Credit{700'000});
  }
  EXPECT_TRUE(same(SharedBytes::own(std::move(got)), tensor.bytes));
}

TEST_F(RemoteSessionTest, LetsSmallCallsPassAnUploadThatWaits) {
  const auto session = server_.welcome(kInfo);
  EXPECT_TRUE(session->write(7, counting(10 << 20)).ok());
  EXPECT_TRUE(session->run({.program = 1}).ok());
  server_.expect<proto::Write>();
  for (int i = 0; i < 3; ++i) server_.expect<proto::Chunk>();
  server_.expect<proto::RunProgram>();
}

TEST_F(RemoteSessionTest, MakesAWriterWaitWhenMuchIsWaiting) {
  const auto session = server_.welcome(kInfo);
  const auto tensor = counting(40 << 20);
  EXPECT_TRUE(session->write(1, tensor).ok());
  auto second = std::async(std::launch::async, [&] { return session->write(2, tensor); });
  EXPECT_EQ(second.wait_for(100ms), std::future_status::timeout);
  server_.send(proto::Credit{std::uint64_t{20} << 20});
  EXPECT_TRUE(second.get().ok());
}

TEST_F(RemoteSessionTest, MakesAWriterWaitWhenTheServerHasMuchThatItHasNotExecuted) {
  auto limits = kInfo;
  limits.max_in_flight = 16;
  limits.bulk_credit = std::uint64_t{1} << 40;
  const auto session = server_.welcome(limits);
  const auto tensor = counting(60 << 20);
  for (proto::TensorId id = 1; id <= 4; ++id) EXPECT_TRUE(session->write(id, tensor).ok());
  auto fifth = std::async(std::launch::async, [&] { return session->write(5, tensor); });
  EXPECT_EQ(fifth.wait_for(50ms), std::future_status::timeout);
  EXPECT_TRUE(session->release({1}).ok());  // what has no bytes does not wait for them
  server_.send(proto::Ack{1});
  EXPECT_TRUE(fifth.get().ok());
}

TEST_F(RemoteSessionTest, IsInGoodHealthUntilTheConnectionIsLost) {
  const auto session = server_.welcome(kInfo);
  EXPECT_TRUE(session->health().ok());
  server_.close(unavailable("the wire was cut"));
  EXPECT_NE(session->health().message().find("lost connection to"), std::string::npos) << session->health().message();
}

TEST_F(RemoteSessionTest, RefusesTensorsThatCannotBe) {
  const auto session = server_.welcome(kInfo);
  EXPECT_EQ(session->write(1, {bytes_type(5), counting(4).bytes}).code(), StatusCode::invalid_argument);
  proto::SessionInfo small = kInfo;
  small.max_tensor_bytes = 100;
  ScriptedServer other;
  const auto limited = other.welcome(small);
  EXPECT_EQ(limited->write(1, counting(101)).code(), StatusCode::resource_exhausted);
  EXPECT_TRUE(limited->write(1, counting(100)).ok());
}

TEST_F(RemoteSessionTest, ReadsWhatComesInOneFrame) {
  const auto session = server_.welcome(kInfo);
  ReadOutcome outcome;
  session->read(5, outcome.callback());
  const auto read = server_.expect<proto::Read>();
  EXPECT_EQ(read.id, 5u);
  std::vector<float> values(1000);
  std::iota(values.begin(), values.end(), 1.0f);
  const TensorType type{DType::f32, {10, 100}};
  server_.send(proto::Data{read.request, type}, SharedBytes::own(values));
  const auto tensor = outcome.get();
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(tensor->type, type);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor->bytes.data()) % sizeof(float), 0u);
  EXPECT_EQ(reinterpret_cast<const float*>(tensor->bytes.data())[999], 1000.0f);
}

TEST_F(RemoteSessionTest, ReadsWhatComesInChunksAndGrantsCreditAgain) {
  const auto session = server_.welcome(kInfo);
  ReadOutcome outcome;
  session->read(5, outcome.callback());
  const auto request = server_.expect<proto::Read>().request;
  const auto tensor = counting((20 << 20) + 5);
  server_.send(proto::Data{request, tensor.type});
  std::uint64_t granted = 0;
  for (std::size_t at = 0; at < tensor.bytes.size();) {
    const std::size_t size = std::min(proto::kChunkBytes, tensor.bytes.size() - at);
    server_.send(proto::Chunk{request, at}, tensor.bytes.slice(at, size));
    at += size;
    while (const auto said = server_.next(0ms)) granted += std::get<proto::Credit>(said->frame.body).bytes;
    EXPECT_LE(granted, at);
    EXPECT_LE(at - granted, proto::kInitialCredit - proto::kChunkBytes);  // the server never runs dry
  }
  const auto got = outcome.get();
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(same(got->bytes, tensor.bytes));
}

TEST_F(RemoteSessionTest, MatchesAnswersInAnyOrder) {
  const auto session = server_.welcome(kInfo);
  ReadOutcome first, second;
  SyncOutcome sync;
  session->read(1, first.callback());
  session->read(2, second.callback());
  session->sync(sync.callback());
  const auto a = server_.expect<proto::Read>().request;
  const auto b = server_.expect<proto::Read>().request;
  const auto c = server_.expect<proto::Sync>().request;
  server_.send(proto::Done{c, not_found("program 9")});
  server_.send(proto::Data{b, bytes_type(1)}, counting(1).bytes);
  server_.send(proto::Done{a, invalid_argument("poisoned")});
  EXPECT_EQ(first.get().status(), invalid_argument("poisoned"));
  EXPECT_TRUE(second.get().ok());
  EXPECT_EQ(sync.get(), not_found("program 9"));
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
                                         Lie{"DataForNobody",
                                             [](auto& s, auto r) {
                                               s.send(proto::Data{r + 1, bytes_type(1)}, counting(1).bytes);
                                             }},
                                         Lie{"DoneForNobody",
                                             [](auto& s, auto r) {
                                               s.send(proto::Done{r + 1, {}});
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
