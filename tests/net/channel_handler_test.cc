// What every transport promises to a channel's handler, and what bursts are: the part of proto/channel.h that
// channel_test.cc does not check.
#include <atomic>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "tests/net/support.h"

namespace burn::test {
namespace {

using proto::Lane;

class EveryHandler : public testing::TestWithParam<Transport> {
 protected:
  void serve(TestAcceptor& acceptor) {
    auto listener = listen(GetParam(), acceptor);
    ASSERT_TRUE(listener.ok()) << listener.status().to_string();
    listener_ = *std::move(listener);
  }
  std::shared_ptr<proto::Channel> connect(std::shared_ptr<proto::ChannelHandler> handler) {
    return must_connect(listener_->url(), std::move(handler));
  }

  TestAcceptor echo_{true};
  std::unique_ptr<net::Listener> listener_;
};

INSTANTIATE_TEST_SUITE_P(, EveryHandler,
                         testing::Values(Transport::websocket, Transport::unix_socket, Transport::unix_without_memory,
                                         Transport::grpc, Transport::grpc_unix),
                         [](const auto& info) { return name(info.param); });

// Counts calls that are under way at the same time.
class Watched : public Recorder {
 public:
  Watched() {
    frame_hook = [this](const SharedBytes&) {
      if (under_way_.fetch_add(1) > 0) overlapped = true;
      if (++calls % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds{200});
      under_way_.fetch_sub(1);
    };
  }
  std::atomic<int> calls = 0;
  std::atomic<bool> overlapped = false;

 private:
  std::atomic<int> under_way_ = 0;
};

TEST_P(EveryHandler, IsCalledOnceAtATime) {
  serve(echo_);
  const auto client = std::make_shared<Watched>();
  const auto channel = connect(client);
  std::vector<std::thread> senders;
  for (int t = 0; t < 4; ++t) {
    senders.emplace_back([&, t] {
      for (int i = 0; i < 250; ++i)
        channel->send(frame("x", i % 50 == 0 ? 200'000 : 10), t % 2 ? Lane::bulk : Lane::control);
    });
  }
  for (auto& sender : senders) sender.join();
  ASSERT_TRUE(client->wait_for_frames(1000));
  EXPECT_FALSE(client->overlapped);
}

TEST_P(EveryHandler, IsNotCalledAfterItsChannelIsGone) {
  serve(echo_);
  for (int round = 0; round < 10; ++round) {
    const auto client = std::make_shared<Watched>();
    auto channel = connect(client);
    for (int i = 0; i < 500; ++i) channel->send(frame("x", 100), Lane::control);
    if (round % 2 != 0) client->wait_for_frames(1);
    channel.reset();
    const int calls = client->calls;
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(client->calls, calls);
    EXPECT_EQ(client->closed_count(), 0);
  }
}

// Has memory for the payloads of frames whose header begins with "put", behind the header's first 8 bytes.
class WithSpace : public Recorder {
 public:
  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) override {
    asked += 1;
    if (head.size() < 8 || std::memcmp(head.data(), "put", 3) != 0) return {};
    space = std::make_shared<std::vector<std::byte>>(size - 8);
    return {8, space, *space};
  }
  void on_frame_in_place(SharedBytes head, SharedBytes rest) override {
    is_in_place = rest.data() == space->data();
    std::vector<std::byte> whole(head.data(), head.data() + head.size());
    whole.insert(whole.end(), rest.data(), rest.data() + rest.size());
    in_place += 1;
    on_frame(SharedBytes::own(std::move(whole)));
  }
  std::atomic<int> asked = 0, in_place = 0;
  std::atomic<bool> is_in_place = true;
  std::shared_ptr<std::vector<std::byte>> space;
};

// A transport need not ask; a frame arrives whole, and in its place among others, either way.
TEST_P(EveryHandler, MayTakeLargeFramesInPlace) {
  serve(echo_);
  const auto client = std::make_shared<WithSpace>();
  const auto channel = connect(client);
  constexpr std::size_t kLarge = 300'000;
  channel->send(frame("put-here", kLarge, 1), Lane::control);
  channel->send(frame("as it is", kLarge, 2), Lane::control);
  channel->send(frame("put-here", 5, 3), Lane::control);
  channel->send(frame("put-here", kLarge, 4), Lane::control);
  ASSERT_TRUE(client->wait_for_frames(4));
  const auto frames = client->frames();
  EXPECT_TRUE(matches(frames[0], "put-here", kLarge, 1));
  EXPECT_TRUE(matches(frames[1], "as it is", kLarge, 2));
  EXPECT_TRUE(matches(frames[2], "put-here", 5, 3));
  EXPECT_TRUE(matches(frames[3], "put-here", kLarge, 4));
  EXPECT_TRUE(client->is_in_place);
  EXPECT_LE(client->in_place, 3);
  if (client->asked > 0) {
    EXPECT_GE(client->in_place, 1);
  }
}

TEST_P(EveryHandler, HasWhatWasFlushedWithinABurst) {
  serve(echo_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  channel->begin_burst();
  for (int i = 0; i < 10; ++i) channel->send(frame(std::to_string(i)), Lane::control);
  channel->flush();
  EXPECT_TRUE(client->wait_for_frames(10));
  for (int i = 10; i < 20; ++i) channel->send(frame(std::to_string(i)), Lane::control);
  channel->end_burst();
  ASSERT_TRUE(client->wait_for_frames(20));
  const auto frames = client->frames();
  for (std::size_t i = 0; i < frames.size(); ++i) EXPECT_EQ(text(frames[i]), std::to_string(i));
}

}  // namespace
}  // namespace burn::test
