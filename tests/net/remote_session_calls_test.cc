// What a RemoteSession says and takes: order, window, uploads and credit, answers.
#include <atomic>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>

#include "tests/net/remote_session.h"
#include "tests/session/expect_fails.h"

namespace burn::test {
namespace {

using namespace std::chrono_literals;
using ir::DType;
using ir::TensorType;

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

TEST_F(RemoteSessionTest, AsksForStatsBesideTheWindow) {
  auto connecting = server_.connect();
  server_.expect<proto::Hello>();
  server_.send(proto::Welcome{proto::kProtocolVersion, 0, kInfo, 0, "", {}, proto::kExtensions});
  const auto session = *connecting.get();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(session->release({1}).ok());  // the window is full
  for (int i = 0; i < 4; ++i) server_.expect<proto::Release>();
  StatsOutcome first, second;
  session->stats(first.callback());
  session->stats(second.callback());
  proto::Frame frame;
  const auto one = server_.expect<proto::Stats>(&frame);
  EXPECT_EQ(frame.seq, 0u);
  const auto two = server_.expect<proto::Stats>();
  EXPECT_NE(one.request, two.request);
  server_.send(proto::StatsReport{two.request, unavailable("a member is lost"), {}});
  EXPECT_EQ(second.get().status().message(), "a member is lost");
  server_.send(proto::StatsReport{one.request, {}, {.session = {.runs = 5}, .queued = 3}});
  const auto stats = first.get();
  ASSERT_TRUE(stats.ok()) << stats.status().to_string();
  EXPECT_EQ(stats->session.runs, 5u);
  EXPECT_EQ(stats->queued, 3u);
}

TEST_F(RemoteSessionTest, RefusesByNameWhatAnOlderServerDoesNotKnow) {
  const auto session = server_.welcome(kInfo);
  StatsOutcome stats;
  session->stats(stats.callback());
  EXPECT_FAILS(stats.get().status(), unimplemented, "the server at test://server (script) does not know stats");
  EXPECT_TRUE(server_.is_silent());
  SyncOutcome sync;  // the session goes on
  session->sync(sync.callback());
  server_.send(proto::Done{server_.expect<proto::Sync>().request, {}});
  EXPECT_TRUE(sync.get().ok());
}

TEST_F(RemoteSessionTest, FailsStatsWithTheSession) {
  auto connecting = server_.connect();
  server_.expect<proto::Hello>();
  server_.send(proto::Welcome{proto::kProtocolVersion, 0, kInfo, 0, "", {}, proto::kExtensions});
  const auto session = *connecting.get();
  StatsOutcome stats, late;
  session->stats(stats.callback());
  server_.expect<proto::Stats>();
  server_.close(unavailable("gone"));
  EXPECT_FAILS(stats.get().status(), unavailable, "gone");
  session->stats(late.callback());
  EXPECT_FAILS(late.get().status(), unavailable, "gone");
}

TEST_F(RemoteSessionTest, TakesNoOtherAnswerForStats) {
  auto connecting = server_.connect();
  server_.expect<proto::Hello>();
  server_.send(proto::Welcome{proto::kProtocolVersion, 0, kInfo, 0, "", {}, proto::kExtensions});
  const auto session = *connecting.get();
  StatsOutcome stats;
  session->stats(stats.callback());
  server_.send(proto::Done{server_.expect<proto::Stats>().request, {}});
  EXPECT_FAILS(stats.get().status(), unavailable, "the server broke the protocol");
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
  server_.send(proto::Done{request, {}});  // on this thread: a wait would deadlock
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

TEST_F(RemoteSessionTest, WritesSayAlongWhichAxisABatchIs) {
  const auto session = server_.welcome(kInfo);
  const auto small = counting(8), large = counting(proto::kInlineBytes + 1);
  EXPECT_TRUE(session->write(7, small, {.batch_axis = 0}).ok());
  EXPECT_TRUE(session->write(8, large, {.batch_axis = 0}).ok());
  EXPECT_EQ(server_.expect<proto::Write>(), (proto::Write{7, small.type, {.batch_axis = 0}}));
  EXPECT_EQ(server_.expect<proto::Write>(), (proto::Write{8, large.type, {.batch_axis = 0}}));
  server_.expect<proto::Chunk>();
  for (const int axis : {1, -1}) {
    const auto refused = session->write(9, small, {.batch_axis = axis});
    EXPECT_EQ(refused.code(), StatusCode::invalid_argument);
    EXPECT_THAT(refused.message(), testing::HasSubstr(std::to_string(axis) + " of u8[8]"));
  }
  EXPECT_TRUE(server_.is_silent());
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
  limits.bulk_credit = std::uint64_t{1} << 30;
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

}  // namespace
}  // namespace burn::test
