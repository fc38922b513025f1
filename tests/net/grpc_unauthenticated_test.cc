// gRPC before the hello: what a client may send that is not authenticated yet, and what is held of it.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "net/listen/token_bucket.h"
#include "tests/net/raw_http2.h"
#include "tests/net/raw_socket.h"
#include "tests/net/support.h"

namespace burn::test {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Authenticated by its first frame, as a session's connection is.
struct Guest final : Served {
  Guest() : Served(false) {}
  std::size_t max_frame_bytes() const override {
    return frame_count() == 0 ? proto::kMaxHelloBytes : proto::kMaxFrameBytes;
  }
};

class Host final : public net::Acceptor {
 public:
  std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override {
    auto guest = std::make_shared<Guest>();
    guest->channel = std::move(channel);
    const std::lock_guard lock{mutex_};
    guests_.push_back(guest);
    return guest;
  }
  std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel>, const Status&) override {
    return nullptr;
  }
  std::vector<std::shared_ptr<Guest>> guests() const {
    const std::lock_guard lock{mutex_};
    return guests_;
  }
  std::size_t frames() const {
    std::size_t all = 0;
    for (const auto& guest : guests()) all += guest->frame_count();
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Guest>> guests_;
};

class GrpcUnauthenticated : public testing::TestWithParam<Transport> {
 protected:
  void serve(const net::ListenOptions& options = {}) {
    auto listener = listen(GetParam(), host_, options);
    ASSERT_TRUE(listener.ok()) << listener.status().to_string();
    listener_ = *std::move(listener);
  }
  std::shared_ptr<proto::Channel> connect(const std::shared_ptr<Recorder>& client) const {
    return must_connect(listener_->url(), client);
  }
  void expect_alive() {
    const auto client = std::make_shared<Recorder>();
    const auto before = host_.frames();
    const auto channel = connect(client);
    channel->send(frame("hello"), proto::Lane::control);
    EXPECT_TRUE(eventually([&] { return host_.frames() > before; }));
  }

  Host host_;
  std::unique_ptr<net::Listener> listener_;
};

class NamedGrpcUnauthenticated : public GrpcUnauthenticated {};

// All of them share the message: what grows is the server's.
TEST_P(GrpcUnauthenticated, LargeMessagesOfManyAreNotHeld) {
  serve();
  expect_alive();
  const auto message = frame("x", 60 * kMiB);
  std::vector<std::shared_ptr<Recorder>> clients;
  std::vector<std::shared_ptr<proto::Channel>> channels;
  for (int i = 0; i < 16; ++i) {
    clients.push_back(std::make_shared<Recorder>());
    channels.push_back(connect(clients.back()));
  }
  const auto before = resident(), frames = host_.frames();
  for (const auto& channel : channels) channel->send(message, proto::Lane::bulk);
  std::size_t most = before;
  EXPECT_TRUE(eventually([&] {
    most = std::max(most, resident());
    return std::ranges::all_of(clients, [](const auto& client) { return client->closed_count() > 0; });
  }));
  std::printf("%zu MiB of 960 were held\n", (most - before) / kMiB);
  EXPECT_LT(most, before + 128 * kMiB);
  EXPECT_EQ(host_.frames(), frames);
  for (const auto& client : clients) EXPECT_FALSE(client->why().ok());
  expect_alive();
}

TEST_P(NamedGrpcUnauthenticated, AClientThatSendsALittleTooMuchIsToldSo) {
  serve();
  for (const std::size_t bytes : {proto::kMaxHelloBytes, std::size_t{512} << 10}) {
    const auto client = std::make_shared<Recorder>();
    const auto channel = connect(client);
    channel->send(frame("x", bytes), proto::Lane::control);
    ASSERT_TRUE(client->wait_until_closed());
    EXPECT_EQ(client->why().code(), StatusCode::resource_exhausted) << client->why().to_string();
  }
  EXPECT_EQ(host_.frames(), 0u);
}

TEST_P(GrpcUnauthenticated, LargeMessagesComeAfterTheHello) {
  serve();
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  channel->send(frame("hello"), proto::Lane::control);
  ASSERT_TRUE(eventually([&] { return host_.frames() == 1; }));
  for (int i = 0; i < 4; ++i) channel->send(frame("x", 20 * kMiB), proto::Lane::bulk);
  EXPECT_TRUE(eventually([&] { return host_.frames() == 5; }));
  EXPECT_EQ(client->closed_count(), 0) << client->why().to_string();
}

// As long as no call on a unix socket is authenticated, the calls there are counted all the same.
INSTANTIATE_TEST_SUITE_P(Grpc, GrpcUnauthenticated, testing::Values(Transport::grpc, Transport::grpc_unix),
                         [](const auto& info) { return name(info.param); });
INSTANTIATE_TEST_SUITE_P(Grpc, NamedGrpcUnauthenticated, testing::Values(Transport::grpc),
                         [](const auto& info) { return name(info.param); });

TEST(GrpcHealthRequests, ThatDoNotComeAreNotWaitedForLong) {
  Host host;
  const auto listener = *listen(Transport::grpc, host, {.handshake_timeout_seconds = 1});
  const auto peer = RawSocket::connect(listener->url().substr(7));
  peer.write(http2::preface() + http2::call(1, "/grpc.health.v1.Health/Check"));
  std::string said;
  for (std::string more; said.find("the request has not come") == std::string::npos; said += more) {
    more = peer.read_some();
    ASSERT_FALSE(more.empty()) << "closed";
  }
}

TEST(TokenBucket, IsUsedUpAndFillsAgain) {
  using net::TokenBucket;
  using Verdict = TokenBucket::Verdict;
  const auto start = TokenBucket::Clock::now();
  TokenBucket bucket;
  bucket.begin(TokenBucket::kBurst, 0, start);
  EXPECT_EQ(bucket.count(100'000, start), Verdict::within_limit);
  EXPECT_EQ(bucket.count(140'000, start), Verdict::over_limit);
  EXPECT_EQ(bucket.count(140'000, start + 1s), Verdict::within_limit) << "after a while";
  EXPECT_EQ(bucket.count(140'000 + 150'000, start + 1h), Verdict::over_limit) << "never more than at first";
  EXPECT_EQ(bucket.count(3'000'000, start + 1h), Verdict::far_over_limit);
}

}  // namespace
}  // namespace burn::test
