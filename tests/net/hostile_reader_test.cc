// Clients that send requests and do not read the answers: the queued answers are bounded, and the clients are
// disconnected, at the latest some time after the channel is closed.
#include <thread>

#include <gtest/gtest.h>

#include "net/transport/stall_watch.h"
#include "tests/net/raw_http2.h"
#include "tests/net/raw_socket.h"
#include "tests/net/support.h"

namespace burn::test {
namespace {

using proto::Lane;

// Answers every frame with a much larger one.
struct Generous : Served {
  using Served::Served;
  void on_frame(SharedBytes bytes) override {
    channel->send(frame("answer", 64 << 10), Lane::control);
    Recorder::on_frame(std::move(bytes));
  }
};

class GenerousAcceptor final : public net::Acceptor {
 public:
  std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override {
    auto made = std::make_shared<Generous>(false);
    made->channel = std::move(channel);
    const std::lock_guard lock{mutex_};
    first_ = first_ ? first_ : made;
    return made;
  }
  std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel>, const Status&) override {
    return nullptr;
  }
  std::shared_ptr<Generous> first() {
    std::shared_ptr<Generous> found;
    EXPECT_TRUE(eventually([&] {
      const std::lock_guard lock{mutex_};
      found = first_;
      return found != nullptr;
    }));
    return found;
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<Generous> first_;
};

class DoesNotRead : public testing::TestWithParam<Transport> {
 protected:
  void serve(const net::ListenOptions& options) {
    auto listener = listen(GetParam(), acceptor_, options);
    ASSERT_TRUE(listener.ok()) << listener.status().to_string();
    listener_ = *std::move(listener);
  }
  // A client that has opened its stream, with the smallest buffer to receive in.
  RawSocket connect() const {
    auto peer = RawSocket::connect(address_of(listener_->url()), 4096);
    if (GetParam() == Transport::websocket) {
      EXPECT_NE(peer.upgrade().find("101"), std::string::npos);
    } else {
      peer.write(http2::preface() + http2::call(1, "/burn.v1.Worker/Connect"));
    }
    return peer;
  }
  std::string question() const {
    if (GetParam() == Transport::websocket) return std::string{"\x82\x81\0\0\0\0?", 7};
    return http2::frame(http2::Type::data, 0, 1, http2::message_head(false, 1) + "?");
  }

  GenerousAcceptor acceptor_;
  std::unique_ptr<net::Listener> listener_;
};
INSTANTIATE_TEST_SUITE_P(, DoesNotRead, testing::Values(Transport::websocket, Transport::grpc),
                         [](const auto& info) { return name(info.param); });

TEST_P(DoesNotRead, IsNotListenedToWhileAnswersWait) {
  constexpr std::size_t kAtOnce = 100, kBlocks = 40;  // requests with 250 MB of answers in all
  serve({.handshake_timeout_seconds = 30, .idle_timeout_seconds = 4});
  const RawSocket peer = connect();
  std::string block;
  for (std::size_t i = 0; i < kAtOnce; ++i) block += question();
  const auto served = acceptor_.first();
  ASSERT_TRUE(served);
  std::size_t most = 0;
  for (std::size_t i = 1; i <= kBlocks; ++i) {
    peer.write_some(block);
    if (most > net::kMaxQueuedBytes) continue;  // the server must not read any further requests
    (void)eventually([&] {
      most = std::max(most, served->channel->queued_bytes());
      return most > net::kMaxQueuedBytes || served->frame_count() >= i * kAtOnce;
    });
  }
  std::this_thread::sleep_for(100ms);
  most = std::max(most, served->channel->queued_bytes());
  EXPECT_GT(most, net::kMaxQueuedBytes) << "too little was asked for";
  EXPECT_LT(served->frame_count(), 2000u);
  // A gRPC message or a receive buffer may contain some more requests.
  EXPECT_LT(most, 8 * net::kMaxQueuedBytes);
  EXPECT_TRUE(served->wait_until_closed());
  EXPECT_EQ(served->why().code(), StatusCode::unavailable) << served->why().to_string();
}

TEST_P(DoesNotRead, IsNotWaitedForAfterTheEnd) {
  serve({.handshake_timeout_seconds = 1, .idle_timeout_seconds = 4});
  const RawSocket peer = connect();
  peer.write(question());
  const auto served = acceptor_.first();
  ASSERT_TRUE(served && served->wait_for_frames(1));
  for (int i = 0; i < 100; ++i) served->channel->send(frame("more", 64 << 10), Lane::control);
  served->channel->close();
  EXPECT_TRUE(served->wait_until_closed());
}

TEST_P(DoesNotRead, IsServedAgainOnceItReads) {
  if (GetParam() == Transport::grpc) GTEST_SKIP() << "its window would have to be opened by hand";
  serve({});
  const RawSocket peer = connect();
  const auto served = acceptor_.first();
  ASSERT_TRUE(served);
  constexpr int kQuestions = 600;  // 39 MB of answers
  std::thread asking{[&] {
    for (int i = 0; i < kQuestions; ++i) peer.write(question());
  }};
  std::this_thread::sleep_for(300ms);
  std::size_t bytes = 0;
  while (bytes < std::size_t{kQuestions} * (64 << 10)) {
    const auto some = peer.read_some(64 << 10);
    if (some.empty()) break;
    bytes += some.size();
  }
  asking.join();
  EXPECT_GE(bytes, std::size_t{kQuestions} * (64 << 10));
  EXPECT_EQ(served->frame_count(), static_cast<std::size_t>(kQuestions));
}

// The client's answers to pings would arrive only after megabytes of answers.
TEST_P(DoesNotRead, IsThereAsLongAsItTakesSomething) {
  if (GetParam() == Transport::grpc) GTEST_SKIP() << "its window would have to be opened by hand";
  serve({.idle_timeout_seconds = 2});
  const RawSocket peer = connect();
  constexpr std::size_t kAnswers = 200, kBytes = kAnswers * (64 << 10);
  for (std::size_t i = 0; i < kAnswers; ++i) peer.write(question());
  std::size_t bytes = 0, since_nap = 0;
  while (bytes < kBytes) {  // takes 5 s
    const auto some = peer.read_some(64 << 10);
    if (some.empty()) break;
    bytes += some.size();
    since_nap += some.size();
    if (since_nap < (256 << 10)) continue;
    since_nap = 0;
    std::this_thread::sleep_for(100ms);
  }
  EXPECT_GE(bytes, kBytes);
}

}  // namespace
}  // namespace burn::test
