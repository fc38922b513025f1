// Peers that lie, fall silent or vanish must cost the server nothing but themselves.
#include <future>
#include <random>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/dial/transports.h"
#include "net/transport/io_threads.h"
#include "net/transport/websocket.h"
#include "tests/net/raw_socket.h"
#include "tests/net/support.h"

namespace burn::test {
namespace {

using proto::Lane;
using testing::HasSubstr;

// Both transports that listen on a port.
class Hostile : public testing::TestWithParam<Transport> {
 protected:
  void serve(const net::ListenOptions& options = {}) {
    auto listener = listen(GetParam(), echo_, options);
    ASSERT_TRUE(listener.ok()) << listener.status().to_string();
    listener_ = *std::move(listener);
  }
  RawSocket connect() const { return RawSocket::connect(address_of(listener_->url())); }

  void expect_alive() {
    const auto client = std::make_shared<Recorder>();
    const auto channel = must_connect(listener_->url(), client);
    channel->send(frame("hello"), Lane::control);
    EXPECT_TRUE(client->wait_for_frames(1));
  }

  TestAcceptor echo_{true};
  std::unique_ptr<net::Listener> listener_;
};

INSTANTIATE_TEST_SUITE_P(, Hostile, testing::Values(Transport::websocket, Transport::grpc),
                         [](const auto& info) { return name(info.param); });

TEST_P(Hostile, RandomBytesDoNoHarm) {
  serve();
  std::mt19937 random{7};
  for (int i = 0; i < 50; ++i) {
    const RawSocket peer = connect();
    std::string noise(1 + random() % 5000, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    peer.write(noise);
  }
  expect_alive();
}

TEST_P(Hostile, HttpThatIsNotOursIsAnsweredOrDropped) {
  serve({.handshake_timeout_seconds = 1});
  for (const char* request :
       {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /run HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n",
        "GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n", "\r\n\r\n\r\n", "SSH-2.0-x\r\n"}) {
    const RawSocket peer = connect();
    peer.write(request);
    bool closed = false;
    const std::string answer = peer.read_until_closed(5s, &closed);
    EXPECT_TRUE(closed) << request;
    EXPECT_THAT(answer, testing::Not(HasSubstr("101 Switching"))) << request;
  }
  expect_alive();
}

TEST_P(Hostile, AnEndlessHeaderIsCutOff) {
  serve();
  const RawSocket peer = connect();
  peer.write("GET / HTTP/1.1\r\n");
  bool gone = false;
  for (int i = 0; i < 100'000 && !gone; ++i)
    gone = !peer.write("X-Header: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
  EXPECT_TRUE(gone);
  expect_alive();
}

TEST_P(Hostile, AConnectionThatSaysNothingIsDropped) {
  serve({.handshake_timeout_seconds = 1});
  const RawSocket peer = connect();
  bool closed = false;
  peer.read_until_closed(10s, &closed);
  EXPECT_TRUE(closed);
}

TEST_P(Hostile, SilentConnectionsDoNotKeepTheListenerFromGoing) {
  serve();
  const RawSocket first = connect();
  const RawSocket second = connect();
  expect_alive();
  listener_.reset();
}

TEST_P(Hostile, AHalfOpenClientIsDropped) {
  serve({.idle_timeout_seconds = 1});
  Proxy proxy(address_of(listener_->url()));
  const auto client = std::make_shared<Recorder>();
  const std::string scheme = listener_->url().substr(0, listener_->url().find("://") + 3);
  const auto channel = must_connect(scheme + proxy.address(), client);
  channel->send(frame("hello"), Lane::control);
  ASSERT_TRUE(client->wait_for_frames(1));
  const auto served = echo_.client(0);

  std::this_thread::sleep_for(2500ms);  // silent but alive: pings are answered
  EXPECT_EQ(served->closed_count(), 0);
  proxy.stall();
  ASSERT_TRUE(served->wait_until_closed());
  EXPECT_EQ(served->why().code(), StatusCode::unavailable) << served->why().to_string();
  EXPECT_EQ(served->closed_count(), 1);
}

TEST_P(Hostile, AClientThatIsKilledIsNoticed) {
  serve();
  auto proxy = std::make_unique<Proxy>(address_of(listener_->url()));
  const auto client = std::make_shared<Recorder>();
  const std::string scheme = listener_->url().substr(0, listener_->url().find("://") + 3);
  const auto channel = must_connect(scheme + proxy->address(), client);
  channel->send(frame("hello"), Lane::control);
  ASSERT_TRUE(client->wait_for_frames(1));
  proxy.reset();  // the connection breaks for both
  const auto served = echo_.client(0);
  ASSERT_TRUE(served->wait_until_closed());
  EXPECT_EQ(served->why().code(), StatusCode::unavailable) << served->why().to_string();
  ASSERT_TRUE(client->wait_until_closed());
  EXPECT_EQ(client->why().code(), StatusCode::unavailable) << client->why().to_string();
  EXPECT_EQ(client->closed_count(), 1);
}

// --- WebSocket only --------------------------------------------------------------------------------------------------

class HostileWebSocket : public Hostile {};
INSTANTIATE_TEST_SUITE_P(, HostileWebSocket, testing::Values(Transport::websocket),
                         [](const auto& info) { return name(info.param); });

// The header of a message from a client, with a mask of zeros.
std::string message_header(std::uint8_t first, std::uint64_t length) {
  std::string header{static_cast<char>(first), static_cast<char>(0x80 | 127)};
  for (int shift = 56; shift >= 0; shift -= 8) header += static_cast<char>(length >> shift);
  return header + std::string(4, '\0');
}

TEST_P(HostileWebSocket, BrokenFramesEndTheirConnectionOnly) {
  serve();
  const std::vector<std::string> frames = {
      message_header(0x82, ~std::uint64_t{0}),       // a length of 2^64 - 1
      message_header(0x82, std::uint64_t{1} << 40),  // more than a frame may have
      message_header(0x82, 5) + "hello",             // a length in more bytes than needed
      std::string{"\x82\x05hello", 7},               // without a mask
      std::string{"\xf2\x80\0\0\0\0", 6},            // reserved bits
      std::string{"\x83\x80\0\0\0\0", 6},            // an unknown opcode
      std::string{"\x80\x80\0\0\0\0", 6},            // a continuation of nothing
      std::string{"\x81\x85\0\0\0\0hello", 11},      // text
      std::string{"\x89\xfe\0\x7e\0\0\0\0", 8},      // a ping of 126 bytes
  };
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const RawSocket peer = connect();
    ASSERT_THAT(peer.upgrade(), HasSubstr("101"));
    peer.write(frames[i]);
    const auto served = echo_.client(i);
    ASSERT_TRUE(served && served->wait_until_closed()) << i;
    EXPECT_FALSE(served->why().ok()) << i;
    EXPECT_EQ(served->closed_count(), 1) << i;
  }
  expect_alive();
}

TEST_P(HostileWebSocket, MessagesInPiecesAreJoined) {
  serve();
  const RawSocket peer = connect();
  ASSERT_THAT(peer.upgrade(), HasSubstr("101"));
  peer.write(std::string{"\x02\x83\0\0\0\0one", 9});
  peer.write(std::string{"\x89\x84\0\0\0\0ping", 10});  // control frames may stand between
  peer.write(std::string{"\x80\x83\0\0\0\0two", 9});
  const auto served = echo_.client(0);
  ASSERT_TRUE(served && served->wait_for_frames(1));
  EXPECT_EQ(text(served->frames()[0]), "onetwo");
  std::string answer;
  while (answer.find("onetwo") == std::string::npos) {
    const std::string more = peer.read_some();
    ASSERT_FALSE(more.empty());
    answer += more;
  }
  EXPECT_THAT(answer, HasSubstr(std::string{"\x8a\x04ping", 6}));
}

// No client is authenticated here: a handler takes no more than a hello.
struct Doubtful final : net::Acceptor {
  struct Handler final : Recorder {
    std::size_t max_frame_bytes() const override { return proto::kMaxHelloBytes; }
    std::shared_ptr<proto::Channel> channel;
  };
  std::shared_ptr<proto::ChannelHandler> accept(std::shared_ptr<proto::Channel> channel) override {
    auto handler = std::make_shared<Handler>();
    handler->channel = std::move(channel);
    accepted.set_value(handler);
    return handler;
  }
  std::shared_ptr<proto::ChannelHandler> accept_returning(std::shared_ptr<proto::Channel>, const Status&) override {
    return nullptr;
  }
  std::promise<std::shared_ptr<Handler>> accepted;
};

TEST(UnauthenticatedClients, MayNotSayMoreOverWebSocketThanAHelloTakes) {
  for (const auto transport : {Transport::websocket, Transport::unix_without_memory}) {
    Doubtful doubtful;
    const auto listener = listen(transport, doubtful);
    ASSERT_TRUE(listener.ok());
    const std::string url = (*listener)->url();
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    auto socket = transport == Transport::websocket ? net::dial_tcp(*net::parse_host_port(address_of(url)), deadline)
                                                    : net::dial_unix(url.substr(url.find('/')), deadline);
    ASSERT_TRUE(socket.ok());
    ASSERT_EQ(::fcntl(socket->get(), F_SETFL, 0), 0);  // it blocks
    const RawSocket peer{*std::move(socket)};
    ASSERT_THAT(peer.upgrade(), HasSubstr("101"));
    const auto handler = doubtful.accepted.get_future().get();
    const std::string pong = std::string{"\x8a\xfd\0\0\0\0", 6} + std::string(125, 'x');
    for (std::size_t said = 0; said < proto::kMaxHelloBytes; said += pong.size()) ASSERT_TRUE(peer.write(pong));
    EXPECT_EQ(handler->closed_count(), 0) << name(transport);
    for (std::size_t said = 0; said < 2 * proto::kMaxHelloBytes; said += pong.size()) (void)peer.write(pong);
    ASSERT_TRUE(handler->wait_until_closed()) << name(transport);
    EXPECT_EQ(handler->why().code(), StatusCode::resource_exhausted) << handler->why().to_string();
  }
}

// A proxy that drops headers it does not know leaves the client in doubt whether its first message was taken.
TEST_P(HostileWebSocket, WhatWasSaidWithTheRequestMayBeSaidOnceMore) {
  serve();
  const RawSocket peer = connect();
  ASSERT_THAT(peer.upgrade("Burn-Hello: aGVsbG8h\r\n"), HasSubstr("101"));
  const std::string hello = std::string{"\x82\x86\0\0\0\0", 6} + "hello!",
                    other = std::string{"\x82\x85\0\0\0\0", 6} + "other";
  peer.write(hello + other + hello);
  const auto served = echo_.client(0);
  ASSERT_TRUE(served && served->wait_for_frames(3));
  EXPECT_EQ(text(served->frames()[0]), "hello!");
  EXPECT_EQ(text(served->frames()[1]), "other");
  EXPECT_EQ(text(served->frames()[2]), "hello!") << "later it is a message like any other";
}

TEST_P(HostileWebSocket, PiecesDoNotAddUpToMoreThanAFrame) {
  serve({.max_frame_bytes = 1000});
  const RawSocket peer = connect();
  ASSERT_THAT(peer.upgrade(), HasSubstr("101"));
  peer.write(std::string{"\x02\xfe\x01\xf4\0\0\0\0", 8} + std::string(500, 'x'));
  bool closed = false;
  for (int i = 0; i < 10; ++i) peer.write(std::string{"\0\xfe\x01\xf4\0\0\0\0", 8} + std::string(500, 'x'));
  peer.read_until_closed(5s, &closed);
  EXPECT_TRUE(closed);
  EXPECT_EQ(echo_.client(0)->frame_count(), 0u);
}

TEST_P(HostileWebSocket, AMessageThatIsNotFinishedIsNotWaitedFor) {
  serve({.idle_timeout_seconds = 1});
  const RawSocket peer = connect();
  ASSERT_THAT(peer.upgrade(), HasSubstr("101"));
  const auto served = echo_.client(0);
  ASSERT_TRUE(served);
  const std::string message{"\x82\x84\0\0\0\0four", 10};
  for (std::size_t i = 0; i < 30 * message.size(); ++i) {  // each in a fraction of a second, in all more than two
    ASSERT_TRUE(peer.write(message.substr(i % message.size(), 1)));
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(served->wait_for_frames(30));
  EXPECT_EQ(served->closed_count(), 0);
  peer.write(message_header(0x82, 1 << 20));
  for (int i = 0; i < 100 && served->closed_count() == 0; ++i) {
    peer.write("x");
    std::this_thread::sleep_for(100ms);
  }
  ASSERT_TRUE(served->wait_until_closed());
  EXPECT_EQ(served->why().code(), StatusCode::deadline_exceeded) << served->why().to_string();
  EXPECT_THAT(served->why().message(), HasSubstr("a message was begun and has not come"));
}

TEST_P(HostileWebSocket, AResetInMidFrameIsNoticed) {
  serve();
  RawSocket peer = connect();
  ASSERT_THAT(peer.upgrade(), HasSubstr("101"));
  peer.write(message_header(0x82, 1 << 20) + std::string(1000, 'x'));
  peer.reset();
  const auto served = echo_.client(0);
  ASSERT_TRUE(served && served->wait_until_closed());
  EXPECT_EQ(served->why().code(), StatusCode::unavailable) << served->why().to_string();
}

TEST_P(HostileWebSocket, AHalfOpenServerIsDropped) {
  serve();
  Proxy proxy(address_of(listener_->url()));
  net::IoThreads threads(1);
  const auto client = std::make_shared<Recorder>();
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  auto socket = net::dial_tcp(*net::parse_host_port(proxy.address()), deadline);
  ASSERT_TRUE(socket.ok());
  auto channel = net::open_websocket(threads.next(), *std::move(socket), "test", {.idle_timeout = 1s}, client);
  ASSERT_TRUE(channel.ok());
  proxy.stall();
  ASSERT_TRUE(client->wait_until_closed());
  EXPECT_EQ(client->why().code(), StatusCode::unavailable) << client->why().to_string();
}

}  // namespace
}  // namespace burn::test
