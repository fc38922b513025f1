// A session whose client comes back on another connection, frame by frame.
#include <gtest/gtest.h>

#include "tests/server/fake_client.h"

namespace burn::server {
namespace {

using namespace std::chrono_literals;

// A connection of a client that speaks by hand.
class Line {
 public:
  // `full`: why there is no place for a new session.
  explicit Line(const std::shared_ptr<WorkerHost>& host, const Status& full = {})
      : connection_(std::make_shared<net::Connection>(
            channel_, host, [this](auto) { ++ended; }, full)) {}
  ~Line() {
    cut();
    connection_->dispose();
  }

  void cut() {
    if (!std::exchange(is_cut_, true)) connection_->on_closed(unavailable("cut"));
  }
  void send(proto::Body body, std::uint64_t seq = 0, SharedBytes payload = {}) {
    connection_->on_frame(proto::shared(proto::to_string(proto::encode({seq, std::move(body), std::move(payload)}))));
  }
  proto::Welcome enter(std::uint32_t lease = 60) {
    proto::Hello hello{.client = "test"};
    hello.lease_seconds = lease;
    send(hello);
    return expect<proto::Welcome>();
  }
  proto::Welcome come_back(const proto::Welcome& first, proto::Resume seen = {}) {
    seen.session = first.info.session;
    seen.secret = first.secret;
    proto::Hello hello{.client = "test"};
    hello.resume = seen;
    send(hello);
    return expect<proto::Welcome>();
  }
  Status refused(const proto::Resume& resume) {
    proto::Hello hello{.client = "test"};
    hello.resume = resume;
    send(hello);
    return expect<proto::Close>().status;
  }
  // The next frame that is no Ack, which must be a Kind.
  template <typename Kind>
  Kind expect(SharedBytes* payload = nullptr) {
    return channel_->expect<Kind>(payload);
  }
  bool is_silent() {
    while (const auto sent = channel_->next(30ms)) {
      if (!std::holds_alternative<proto::Ack>(sent->frame.body)) return false;
    }
    return true;
  }
  FakeChannel& channel() { return *channel_; }

  std::atomic<int> ended = 0;

 private:
  const std::shared_ptr<FakeChannel> channel_ = std::make_shared<FakeChannel>();
  const std::shared_ptr<net::Connection> connection_;
  bool is_cut_ = false;
};

class ResumeTest : public testing::Test {
 protected:
  ~ResumeTest() override {
    for (const auto& session : host_->leases().take_all()) session->dispose();
  }
  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>();
  std::shared_ptr<WorkerHost> host_ =
      std::make_shared<WorkerHost>(WorkerHost::Workers{Worker::create(make_fake_backend(device_))}, Quotas{}, 30s);
};

TEST_F(ResumeTest, ASessionHasARandomNameAndASecretAndALeaseThatWasAskedFor) {
  Line a{host_}, b{host_}, c{host_}, d{host_};
  const auto first = a.enter(), second = b.enter(5), without = c.enter(0);
  EXPECT_EQ(first.lease_seconds, 30u);
  EXPECT_EQ(second.lease_seconds, 5u);
  EXPECT_EQ(first.secret.size(), proto::kSecretBytes);
  EXPECT_NE(first.secret, second.secret);
  EXPECT_NE(first.info.session, second.info.session);
  EXPECT_EQ(without.lease_seconds, 0u);
  EXPECT_EQ(without.secret, "");
  c.cut();
  EXPECT_EQ(d.refused({.session = without.info.session}).code(), StatusCode::not_found);
}

TEST_F(ResumeTest, WithoutTheSecretAResumeIsRefused) {
  Line line{host_};
  const auto welcome = line.enter();
  auto wrong = welcome.secret;
  wrong.back() = static_cast<char>(wrong.back() ^ 1);
  for (const auto& secret : {wrong, std::string{}, welcome.secret.substr(1), welcome.secret + "x"}) {
    Line thief{host_};
    EXPECT_EQ(thief.refused({.session = welcome.info.session, .secret = secret}).code(), StatusCode::not_found);
  }
  Line other{host_};
  EXPECT_EQ(other.refused({.session = "s-1", .secret = welcome.secret}).code(), StatusCode::not_found);
  line.send(proto::Sync{1}, 1);
  EXPECT_TRUE(line.expect<proto::Done>().status.ok()) << "it still has its session";
}

TEST_F(ResumeTest, WhereThereIsNoPlaceASessionGoesOnAndANewOneIsToldWhy) {
  const auto full = resource_exhausted("there are 4 connections, and at most 4 may be");
  Line first{host_};
  const auto welcome = first.enter();
  first.cut();
  {
    Line other{host_, full};
    other.send(proto::Hello{.client = "test"});
    EXPECT_EQ(other.expect<proto::Close>().status, full);
  }
  {
    Line other{host_, full};
    EXPECT_EQ(other.refused({.session = welcome.info.session}).code(), StatusCode::not_found);
  }
  Line again{host_, full};
  EXPECT_TRUE(again.come_back(welcome).resumed.has_value());
}

TEST_F(ResumeTest, AnswersThatWereNotConfirmedComeAgainAndTensorsAreStillThere) {
  Line line{host_};
  const auto welcome = line.enter();
  const auto numbers = tensor({2}, {1, 2});
  line.send(proto::Write{7, numbers.type}, 1, numbers.bytes);
  line.send(proto::Read{11, 7}, 2);
  line.send(proto::Sync{12}, 3);
  line.expect<proto::Data>();
  line.expect<proto::Done>();
  line.send(proto::Sync{13, 1}, 4);  // one has come
  line.expect<proto::Done>();
  line.cut();
  EXPECT_EQ(host_->leases().counts().lost, 1u);

  Line again{host_};
  const auto back = again.come_back(welcome, {.answers = 2});
  ASSERT_TRUE(back.resumed.has_value());
  EXPECT_EQ(back.resumed->received, 4u);
  EXPECT_EQ(back.info.session, welcome.info.session);
  EXPECT_EQ(again.expect<proto::Done>().request, 13u);
  EXPECT_TRUE(again.is_silent());
  again.send(proto::Sync{13}, 4);  // it came twice: dropped
  again.send(proto::Read{14, 7}, 5);
  SharedBytes payload;
  EXPECT_EQ(again.expect<proto::Data>(&payload).request, 14u);
  EXPECT_EQ(payload.size(), 8u);
  EXPECT_EQ(host_->leases().counts().duplicates, 1u);
  EXPECT_EQ(host_->leases().counts().resumes, 1u);
}

TEST_F(ResumeTest, AnAnswerThatComesWithoutAConnectionIsKept) {
  session::Gate gate;
  device_->on_run = [&](const ir::Program&) {
    gate.pass();
    return Status{};
  };
  Line line{host_};
  const auto welcome = line.enter();
  line.send(proto::DefineProgram{1, add_program({1})}, 1);
  const auto one = tensor({1}, {1});
  line.send(proto::Write{1, one.type}, 2, one.bytes);
  line.send(proto::RunProgram{{.program = 1, .inputs = {1, 1}, .first_output = 2}}, 3);
  line.send(proto::Read{9, 2}, 4);
  gate.await(1);
  line.cut();
  gate.open();
  Line again{host_};
  EXPECT_EQ(again.come_back(welcome).resumed->received, 4u);
  EXPECT_EQ(again.expect<proto::Data>().request, 9u);
  EXPECT_EQ(device_->runs, 1);
}

TEST_F(ResumeTest, UploadsAndDownloadsGoOnWhereTheyWere) {
  constexpr std::size_t kSize = 3 << 20;
  std::vector<std::uint8_t> values(kSize);
  for (std::size_t i = 0; i < kSize; ++i) values[i] = static_cast<std::uint8_t>(i * 7 + (i >> 10));
  const auto bytes = SharedBytes::own(values);
  const ir::TensorType type{ir::DType::u8, {kSize}};
  Line line{host_};
  const auto welcome = line.enter();
  line.send(proto::Write{7, type}, 1);
  line.send(proto::Chunk{7, 0}, 0, bytes.slice(0, 1 << 20));
  line.cut();

  Line second{host_};
  const auto back = second.come_back(welcome);
  EXPECT_EQ(back.resumed->uploads, (std::vector<proto::Chunk>{{7, 1 << 20}}));
  for (std::size_t at = 1 << 20; at < kSize; at += 1 << 20)
    second.send(proto::Chunk{7, at}, 0, bytes.slice(at, 1 << 20));
  second.send(proto::Read{5, 7}, 2);
  while (std::holds_alternative<proto::Credit>(second.channel().next()->frame.body)) {
  }
  second.cut();

  Line third{host_};
  const auto again = third.come_back(welcome, {.answers = 1, .offset = 1'000'000});
  EXPECT_TRUE(again.resumed->uploads.empty());
  std::size_t at = 1'000'000;
  while (at < kSize) {
    SharedBytes part;
    const auto chunk = third.expect<proto::Chunk>(&part);
    EXPECT_EQ(chunk.key, 5u);
    ASSERT_EQ(chunk.offset, at);
    EXPECT_TRUE(std::ranges::equal(part.span(), bytes.span().subspan(at, part.size())));
    at += part.size();
  }
  third.send(proto::Credit{0, 1, 1});
  EXPECT_TRUE(third.is_silent());
  third.cut();
  Line fourth{host_};
  fourth.come_back(welcome, {.answers = 1, .downloads = 1});
  EXPECT_TRUE(fourth.is_silent());
}

TEST_F(ResumeTest, ANewConnectionReplacesOneWhoseLossIsNotNoticedYet) {
  Line old{host_};
  const auto welcome = old.enter();
  Line fresh{host_};
  fresh.come_back(welcome);
  EXPECT_EQ(old.ended, 1);
  old.send(proto::Sync{1}, 1);  // is not heard
  EXPECT_TRUE(old.is_silent());
  old.cut();
  EXPECT_EQ(host_->leases().counts().lost, 0u) << "it was not that one";
  fresh.send(proto::Sync{2}, 1);
  EXPECT_EQ(fresh.expect<proto::Done>().request, 2u);
}

TEST_F(ResumeTest, ACloseOfEitherSideIsTheEnd) {
  {
    Line line{host_}, again{host_};
    const auto welcome = line.enter();
    line.send(proto::Close{});
    EXPECT_EQ(again.refused({.session = welcome.info.session, .secret = welcome.secret}).code(), StatusCode::not_found);
  }
  Line line{host_}, again{host_};
  const auto welcome = line.enter();
  line.send(proto::Sync{1}, 5);  // breaks the rules
  line.expect<proto::Close>();
  EXPECT_EQ(again.refused({.session = welcome.info.session, .secret = welcome.secret}).code(), StatusCode::not_found);
}

TEST_F(ResumeTest, AResumeThatClaimsAnswersThatWereNeverSentIsClosed) {
  for (const auto& seen : {proto::Resume{.answers = 2}, proto::Resume{.downloads = 1}, proto::Resume{.offset = 1}}) {
    Line line{host_}, again{host_};
    const auto welcome = line.enter();
    line.send(proto::Sync{1}, 1);
    line.expect<proto::Done>();
    line.cut();
    proto::Resume resume = seen;
    resume.session = welcome.info.session;
    resume.secret = welcome.secret;
    EXPECT_EQ(again.refused(resume).code(), StatusCode::invalid_argument);
  }
  Line line{host_};
  line.enter();
  line.send(proto::Sync{1, 3}, 1);
  EXPECT_FAILS(line.expect<proto::Close>().status, invalid_argument, "3 answers have come; there were 0");
}

TEST_F(ResumeTest, UnconfirmedAnswersHaveAnEnd) {
  Line line{host_};
  line.enter();
  std::uint64_t seq = 0;
  while (!line.channel().is_closed() && seq < 2 * net::Answers::kMaxUnconfirmed) line.send(proto::Sync{1}, ++seq);
  EXPECT_TRUE(line.channel().is_closed());
  EXPECT_GE(seq, net::Answers::kMaxUnconfirmed);
}

TEST_F(ResumeTest, ALeaseRunsOut) {
  Line line{host_}, again{host_};
  const auto welcome = line.enter(1);
  EXPECT_TRUE(host_->leases().take_expired().empty());
  line.cut();
  EXPECT_TRUE(host_->leases().take_expired().empty());
  std::this_thread::sleep_for(1100ms);
  const auto expired = host_->leases().take_expired();
  ASSERT_EQ(expired.size(), 1u);
  expired[0]->dispose();
  EXPECT_EQ(again.refused({.session = welcome.info.session, .secret = welcome.secret}).code(), StatusCode::not_found);
}

}  // namespace
}  // namespace burn::server
