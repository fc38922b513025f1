// What every transport promises: proto/channel.h and net/listen/listener.h, over each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net/every_transport.h"

namespace burn::test {
namespace {

INSTANTIATE_TEST_SUITE_P(, EveryTransport,
                         testing::Values(Transport::websocket, Transport::unix_socket, Transport::unix_without_memory,
                                         Transport::grpc, Transport::grpc_unix),
                         [](const auto& info) { return name(info.param); });

TEST_P(EveryTransport, CarriesFramesOfEverySizeInOrderBothWays) {
  serve(echo_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  const std::vector<std::size_t> sizes = {1, 0, 2, 119, 120, 121, 8000, 65529, 65530, 65531, 1 << 20, 3, (5 << 20) + 7};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    channel->send(frame("head" + std::to_string(i), sizes[i], static_cast<std::uint8_t>(i)), Lane::control);
  }
  ASSERT_TRUE(client->wait_for_frames(sizes.size()))
      << client->frame_count() << " of " << sizes.size() << " frames came back; closed " << client->closed_count()
      << " times: " << client->why().to_string() << "; " << channel->queued_bytes() << " bytes wait to be sent";
  const auto frames = client->frames();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_TRUE(matches(frames[i], "head" + std::to_string(i), sizes[i], static_cast<std::uint8_t>(i))) << i;
  }
}

TEST_P(EveryTransport, SaysAGreetingOnceAndFirst) {
  struct Greeter : Recorder {
    explicit Greeter(std::size_t size) : size(size) {}
    std::optional<proto::EncodedFrame> greeting() override { return frame("greeting", size); }
    std::size_t size;
  };
  serve(echo_);
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, std::size_t{30'000}}) {  // the last is no small talk
    const auto client = std::make_shared<Greeter>(size);
    const auto channel = connect(client);
    channel->send(frame("then"), Lane::control);
    ASSERT_TRUE(client->wait_for_frames(2));
    EXPECT_TRUE(matches(client->frames()[0], "greeting", size)) << size;
    EXPECT_EQ(text(client->frames()[1]), "then");
    EXPECT_EQ(client->frame_count(), 2u);
  }
}

TEST_P(EveryTransport, CarriesEmptyFrames) {
  serve(echo_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  channel->send({}, Lane::control);
  channel->send(frame("after"), Lane::control);
  ASSERT_TRUE(client->wait_for_frames(2));
  EXPECT_EQ(client->frames()[0].size(), 0u);
  EXPECT_EQ(text(client->frames()[1]), "after");
}

TEST_P(EveryTransport, KeepsTheOrderOfABurstOfSmallFrames) {
  serve(echo_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  constexpr std::size_t kCount = 5000;
  for (std::size_t i = 0; i < kCount; ++i) channel->send(frame(std::to_string(i)), Lane::control);
  ASSERT_TRUE(client->wait_for_frames(kCount));
  const auto frames = client->frames();
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_EQ(text(frames[i]), std::to_string(i));
}

TEST_P(EveryTransport, LetsControlOvertakeBulk) {
  serve(sink_);
  const auto channel = connect(std::make_shared<Recorder>());
  const auto bulk = frame("bulk", 1 << 20);
  constexpr std::size_t kCount = 64;
  for (std::size_t i = 0; i < kCount; ++i) channel->send(bulk, Lane::bulk);
  channel->send(frame("control"), Lane::control);
  const auto served = sink_.client(0);
  ASSERT_TRUE(served && served->wait_for_frames(kCount + 1));
  const auto frames = served->frames();
  std::size_t place = 0;
  while (text(frames[place]) != "control") ++place;
  EXPECT_LT(place, kCount);
}

TEST_P(EveryTransport, SendsFromManyThreads) {
  serve(echo_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  constexpr int kThreads = 4, kEach = 300;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i)
        channel->send(frame(std::string(1, static_cast<char>('a' + t)) + std::to_string(i)), Lane::control);
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_TRUE(client->wait_for_frames(static_cast<std::size_t>(kThreads) * kEach));
  std::vector<int> next(kThreads, 0);  // each thread's frames come in its order
  for (const auto& bytes : client->frames()) {
    const std::string got = text(bytes);
    EXPECT_EQ(got.substr(1), std::to_string(next[static_cast<std::size_t>(got[0] - 'a')]++));
  }
}

// As a client says hello before it sends what is large: until it is authenticated, the server bounds what it takes.
bool is_answered(proto::Channel& channel, Recorder& client) {
  channel.send(frame("hello"), Lane::control);
  return client.wait_for_frames(1);
}

TEST_P(EveryTransport, TakesTheLargestFrameAndNoLargerOne) {
  constexpr std::size_t kLimit = 3 << 20;
  serve(echo_, {.max_frame_bytes = kLimit});
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  ASSERT_TRUE(is_answered(*channel, *client));
  channel->send(frame("head", kLimit - 4), Lane::bulk);
  ASSERT_TRUE(client->wait_for_frames(2));
  EXPECT_TRUE(matches(client->frames()[1], "head", kLimit - 4));

  channel->send(frame("head", kLimit - 3), Lane::bulk);
  const auto served = echo_.client(0);
  ASSERT_TRUE(served->wait_until_closed());
  EXPECT_FALSE(served->why().ok());
  ASSERT_TRUE(client->wait_until_closed());  // it may not receive the reason: the server stops reading in mid-frame
  EXPECT_FALSE(client->why().ok());
  EXPECT_EQ(served->frame_count(), 2u);
}

TEST_P(EveryTransport, CarriesAFrameOfTheProtocolsLimit) {
  serve(echo_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  ASSERT_TRUE(is_answered(*channel, *client));
  channel->send(frame("head", proto::kMaxFrameBytes - 4, 9), Lane::bulk);
  ASSERT_TRUE(client->wait_for_frames(2));
  EXPECT_TRUE(matches(client->frames()[1], "head", proto::kMaxFrameBytes - 4, 9));
}

TEST_P(EveryTransport, ServesManyClientsAtOnce) {
  serve(echo_);
  constexpr std::size_t kClients = 48;
  std::vector<std::shared_ptr<Recorder>> clients;
  std::vector<std::shared_ptr<proto::Channel>> channels;
  for (std::size_t i = 0; i < kClients; ++i) {
    clients.push_back(std::make_shared<Recorder>());
    channels.push_back(connect(clients.back()));
  }
  for (int round = 0; round < 20; ++round) {
    for (std::size_t i = 0; i < kClients; ++i) {
      channels[i]->send(frame(std::to_string(i) + "." + std::to_string(round), 1000), Lane::control);
    }
  }
  for (std::size_t i = 0; i < kClients; ++i) {
    ASSERT_TRUE(clients[i]->wait_for_frames(20));
    const auto frames = clients[i]->frames();
    for (int round = 0; round < 20; ++round) {
      EXPECT_TRUE(
          matches(frames[static_cast<std::size_t>(round)], std::to_string(i) + "." + std::to_string(round), 1000));
    }
  }
}

TEST_P(EveryTransport, TurnsClientsAwayBeyondItsLimit) {
  serve(echo_, {.max_connections = 2});
  const auto first = connect(std::make_shared<Recorder>());
  auto second = connect(std::make_shared<Recorder>());
  const auto third = std::make_shared<Recorder>();
  const auto refused = net::connect_channel(listener_->url(), third, 5s);
  EXPECT_TRUE(!refused.ok() || third->wait_until_closed()) << "the acceptor takes none that come back";
  second->close();
  second.reset();
  EXPECT_TRUE(eventually([&] {  // the place is free again
    const auto client = std::make_shared<Recorder>();
    const auto channel = net::connect_channel(listener_->url(), client, 5s);
    if (!channel.ok()) return false;
    (*channel)->send(frame("x"), Lane::control);
    return eventually([&] { return client->frame_count() + static_cast<std::size_t>(client->closed_count()) > 0; }) &&
           client->frame_count() > 0;
  }));
}

// Which one a client is shows in its hello only: the acceptor hears it out, and may say why it is refused.
TEST_P(EveryTransport, BeyondItsLimitAClientIsHeardInAPlaceForThoseThatComeBack) {
  echo_.takes_returning = true;
  serve(echo_, {.max_connections = 1});
  const auto first = connect(std::make_shared<Recorder>());
  EXPECT_TRUE(echo_.full().empty());
  const auto returning = std::make_shared<Recorder>();
  auto second = connect(returning);
  second->send(frame("I was here before"), Lane::control);
  ASSERT_TRUE(returning->wait_for_frames(1));
  ASSERT_EQ(echo_.full().size(), 1u);
  EXPECT_EQ(echo_.full()[0].code(), StatusCode::resource_exhausted);
  EXPECT_NE(echo_.full()[0].message().find("at most"), std::string::npos) << echo_.full()[0].to_string();
  // There is one such place, and a client that finds none is told so where the transport can.
  const auto third = net::connect_channel(listener_->url(), std::make_shared<Recorder>(), 5s);
  ASSERT_FALSE(third.ok());
  if (GetParam() != Transport::grpc && GetParam() != Transport::grpc_unix) {
    EXPECT_NE(third.status().message().find("503 there are 1 connections, and at most 1 may be"), std::string::npos)
        << third.status().to_string();
  }
  second->close();
  second.reset();
  EXPECT_TRUE(eventually([&] {
    const auto client = std::make_shared<Recorder>();
    const auto channel = net::connect_channel(listener_->url(), client, 5s);
    if (!channel.ok()) return false;
    (*channel)->send(frame("again"), Lane::control);
    return eventually([&] { return client->frame_count() + static_cast<std::size_t>(client->closed_count()) > 0; }) &&
           client->frame_count() > 0;
  }));
}

TEST_P(EveryTransport, MayRefuseAClient) {
  sink_.refuse = true;
  serve(sink_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = net::connect_channel(listener_->url(), client, 5s);
  if (channel.ok()) {
    EXPECT_TRUE(client->wait_until_closed());
  }
}

TEST_P(EveryTransport, CountsWhatIsQueued) {
  serve(sink_);
  const auto channel = connect(std::make_shared<Recorder>());
  const auto served = sink_.client(0);
  ASSERT_TRUE(served);
  EXPECT_EQ(channel->queued_bytes(), 0u);
  const auto big = frame("", 4 << 20);
  for (int i = 0; i < 32; ++i) channel->send(big, Lane::bulk);
  EXPECT_GT(channel->queued_bytes(), std::size_t{4} << 20);
  ASSERT_TRUE(served->wait_for_frames(32));
  EXPECT_TRUE(eventually([&] { return channel->queued_bytes() == 0; }));
}

TEST_P(EveryTransport, NamesItsPeers) {
  serve(sink_);
  const auto channel = connect(std::make_shared<Recorder>());
  const auto served = sink_.client(0);
  ASSERT_TRUE(served);
  const bool is_tcp = GetParam() == Transport::websocket || GetParam() == Transport::grpc;
  const std::string start = is_tcp ? "127.0.0.1:" : "unix:";
  EXPECT_THAT(served->channel->peer(), testing::StartsWith(start));
  EXPECT_THAT(channel->peer(), testing::StartsWith(start));
}

}  // namespace
}  // namespace burn::test
