// How channels end, and servers go down, over each transport.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/net/every_transport.h"

namespace burn::test {
namespace {

TEST_P(EveryTransport, ClosesFromTheClientAfterWhatWasSent) {
  serve(sink_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  for (int i = 0; i < 20; ++i) channel->send(frame("bulk", 1 << 20), Lane::bulk);
  channel->close();
  channel->send(frame("too late"), Lane::control);
  const auto served = sink_.client(0);
  ASSERT_TRUE(served && served->wait_until_closed());
  EXPECT_EQ(served->frame_count(), 20u);
  EXPECT_TRUE(served->why().ok()) << served->why().to_string();
  ASSERT_TRUE(client->wait_until_closed());
  EXPECT_TRUE(client->why().ok()) << client->why().to_string();
  EXPECT_EQ(channel->queued_bytes(), 0u);
}

TEST_P(EveryTransport, ClosesFromTheServerAfterWhatWasSent) {
  serve(sink_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  const auto served = sink_.client(0);
  ASSERT_TRUE(served);
  for (int i = 0; i < 20; ++i) served->channel->send(frame("bulk", 1 << 20), Lane::bulk);
  served->channel->close();
  ASSERT_TRUE(client->wait_until_closed());
  EXPECT_EQ(client->frame_count(), 20u);
  EXPECT_TRUE(client->why().ok()) << client->why().to_string();
  ASSERT_TRUE(served->wait_until_closed());
  EXPECT_TRUE(served->why().ok()) << served->why().to_string();
}

TEST_P(EveryTransport, SaysOnceThatItIsClosedWhenBothCloseAtOnce) {
  serve(sink_);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto client = std::make_shared<Recorder>();
    auto channel = connect(client);
    const auto served = sink_.client(i);
    ASSERT_TRUE(served);
    std::thread other([&] { served->channel->close(); });
    channel->close();
    channel->close();
    other.join();
    ASSERT_TRUE(client->wait_until_closed());
    ASSERT_TRUE(served->wait_until_closed());
    channel.reset();
    served->channel.reset();
    EXPECT_EQ(client->closed_count(), 1);
    EXPECT_EQ(served->closed_count(), 1);
  }
}

TEST_P(EveryTransport, IsClosedWhenTheChannelIsDestroyed) {
  serve(sink_);
  const auto client = std::make_shared<Recorder>();
  auto channel = connect(client);
  const auto served = sink_.client(0);
  ASSERT_TRUE(served);
  channel.reset();
  EXPECT_EQ(client.use_count(), 1);  // the destroyed channel has released its handler
  ASSERT_TRUE(served->wait_until_closed());
  EXPECT_EQ(client->closed_count(), 0);
}

TEST_P(EveryTransport, MayBeDroppedByItsOwnHandler) {
  sink_.prepare = [](Served& served) { served.frame_hook = [&served](const SharedBytes&) { served.channel.reset(); }; };
  serve(sink_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  const auto served = sink_.client(0);
  ASSERT_TRUE(served);
  channel->send(frame("drop it"), Lane::control);
  channel->send(frame("unheard"), Lane::control);
  ASSERT_TRUE(client->wait_until_closed());
  ASSERT_TRUE(served->wait_for_frames(1));  // counted when the hook has returned
  EXPECT_EQ(served->frame_count(), 1u);
  EXPECT_EQ(served->closed_count(), 0);
}

TEST_P(EveryTransport, TellsItsClientsWhenTheServerGoesDown) {
  serve(sink_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  const auto served = sink_.client(0);
  ASSERT_TRUE(served);
  listener_.reset();
  EXPECT_EQ(served->closed_count(), 1);
  EXPECT_EQ(served->why().code(), StatusCode::unavailable);
  ASSERT_TRUE(client->wait_until_closed());
  EXPECT_EQ(client->closed_count(), 1);
  channel->send(frame("after the end"), Lane::control);
  served->channel->send(frame("after the end"), Lane::control);
  EXPECT_EQ(channel->queued_bytes(), 0u);
}

// What each client and its other end have, for the message of a test that waits.
std::string state_of(const std::vector<std::shared_ptr<Recorder>>& clients,
                     const std::vector<std::shared_ptr<proto::Channel>>& channels, TestAcceptor& acceptor) {
  std::string text;
  const auto add = [&](const char* side, const Recorder& at, const proto::Channel& channel) {
    text += fmt::format("\n  {}: {} frames, {} bytes queued, closed {} times ({})", side, at.frame_count(),
                        channel.queued_bytes(), at.closed_count(), at.why().to_string());
  };
  for (std::size_t i = 0; i < clients.size(); ++i) add("client", *clients[i], *channels[i]);
  for (std::size_t i = 0; i < acceptor.client_count(); ++i) {
    const auto served = acceptor.client(i);
    add("server", *served, *served->channel);
  }
  return text;
}

TEST_P(EveryTransport, GoesDownWhileClientsAreBusy) {
  for (int round = 0; round < 5; ++round) {
    TestAcceptor echo{true};
    serve(echo);
    std::vector<std::shared_ptr<Recorder>> clients;
    std::vector<std::shared_ptr<proto::Channel>> channels;
    for (int i = 0; i < 8; ++i) {
      clients.push_back(std::make_shared<Recorder>());
      channels.push_back(connect(clients.back()));
      for (int k = 0; k < 50; ++k) channels.back()->send(frame("x", 100'000), Lane::bulk);
    }
    ASSERT_TRUE(clients[0]->wait_for_frames(1)) << "round " << round << ": " << state_of(clients, channels, echo);
    listener_.reset();
    for (const auto& client : clients) {
      ASSERT_TRUE(client->wait_until_closed()) << "round " << round << ": " << state_of(clients, channels, echo);
      EXPECT_EQ(client->closed_count(), 1);
    }
  }
}

TEST_P(EveryTransport, KeepsOpenChannelsWhenItStopsAccepting) {
  serve(echo_);
  const auto client = std::make_shared<Recorder>();
  const auto channel = connect(client);
  listener_->stop_accepting();
  EXPECT_TRUE(
      eventually([&] { return !net::connect_channel(listener_->url(), std::make_shared<Recorder>(), 1s).ok(); }));
  channel->send(frame("still here"), Lane::control);
  EXPECT_TRUE(client->wait_for_frames(1));
}

}  // namespace
}  // namespace burn::test
