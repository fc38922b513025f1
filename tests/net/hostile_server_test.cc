// Servers on the loopback that would hold a client for ever, over every transport.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/remote/remote_session.h"
#include "net/transport/ws_handshake.h"
#include "proto/codec.h"
#include "tests/net/raw_socket.h"
#include "tests/net/remote_session.h"
#include "tests/net/support.h"

namespace burn::test {
namespace {

using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

std::string bytes_of(const proto::EncodedFrame& frame) {
  std::string bytes(reinterpret_cast<const char*>(frame.header.data()), frame.header.size());
  bytes.append(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
  return bytes;
}

proto::EncodedFrame welcome(std::uint32_t lease_seconds = 0, bool goes_on = false) {
  proto::Welcome welcome{proto::kProtocolVersion, 0, kInfo};
  welcome.info.session = "s";
  welcome.lease_seconds = lease_seconds;
  if (lease_seconds > 0) welcome.secret = std::string(16, 's');
  if (goes_on) welcome.resumed = proto::Resumed{};
  return proto::encode({0, welcome, {}});
}

class HostileServer : public testing::TestWithParam<Transport> {
 protected:
  // Answers each hello with a welcome; `hangs_up`: and then closes.
  void serve(std::uint32_t lease_seconds = 0, bool hangs_up = false) {
    acceptor_.keep_frames = false;
    acceptor_.prepare = [=](Served& served) {
      served.frame_hook = [=, &served, is_first = true](const SharedBytes& bytes) mutable {
        if (!std::exchange(is_first, false)) return;
        const auto hello = proto::decode(bytes);
        const bool goes_on = hello.ok() && std::get<proto::Hello>(hello->body).resume.has_value();
        served.channel->send(welcome(lease_seconds, goes_on), proto::Lane::control);
        if (hangs_up) served.channel->close();
      };
    };
    listener_ = *listen(GetParam(), acceptor_);
  }
  Result<std::unique_ptr<net::RemoteSession>> connect(std::uint32_t lease_seconds = 0) {
    return net::connect(listener_->url(),
                        {.timeout_seconds = 5, .lease_seconds = lease_seconds, .answer_timeout_seconds = 1});
  }

  TestAcceptor acceptor_{false};
  std::unique_ptr<net::Listener> listener_;
};

INSTANTIATE_TEST_SUITE_P(, HostileServer,
                         testing::Values(Transport::websocket, Transport::unix_socket, Transport::grpc),
                         [](const auto& info) { return name(info.param); });

TEST_P(HostileServer, ThatOnlyGrantsCreditIsGivenUp) {
  serve();
  const auto session = connect();
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  ReadOutcome read;
  (*session)->read(1, read.callback());
  const auto served = acceptor_.client(0);
  ASSERT_TRUE(served);
  const auto begin = Clock::now();
  while ((*session)->health().ok() && Clock::now() - begin < 15s) {
    served->channel->send(proto::encode({0, proto::Credit{1}, {}}), proto::Lane::control);
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ((*session)->health().code(), StatusCode::deadline_exceeded);
  EXPECT_EQ(read.get().status().code(), StatusCode::deadline_exceeded);
  served->channel = nullptr;
}

TEST_P(HostileServer, ThatGrantsWithoutBoundsIsLeft) {
  serve();
  const auto session = connect();
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  ReadOutcome read;
  (*session)->read(1, read.callback());
  const auto served = acceptor_.client(0);
  ASSERT_TRUE(served);
  served->channel->send(proto::encode({0, proto::Credit{std::uint64_t{1} << 40}, {}}), proto::Lane::control);
  EXPECT_THAT(read.get().status().message(), HasSubstr("credit for 1099511627776 bytes"));
  served->channel = nullptr;
}

TEST_P(HostileServer, ThatTakesTheClientBackForEverIsGivenUp) {
  serve(2, true);
  const auto session = connect(2);
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  ReadOutcome read;
  const auto begin = Clock::now();
  (*session)->read(1, read.callback());
  const auto status = read.get().status();
  EXPECT_FALSE(status.ok());
  EXPECT_LT(Clock::now() - begin, 15s);
  EXPECT_THAT(status.message(), HasSubstr("BURN_ANSWER_TIMEOUT"));
}

// A listening socket and one client of it, spoken to byte by byte.
class RawServer {
 public:
  RawServer() : listening_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    ::listen(listening_.get(), 8);  // on a free port
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    ::getsockname(listening_.get(), reinterpret_cast<sockaddr*>(&storage), &size);
    const std::string any = net::to_string(reinterpret_cast<sockaddr*>(&storage));
    address_ = "127.0.0.1" + any.substr(any.rfind(':'));
  }
  const std::string& address() const { return address_; }
  // Null: no client came in time.
  net::UniqueFd accept() const {
    pollfd waiting{.fd = listening_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, 10'000) != 1) return {};
    return net::UniqueFd{::accept(listening_.get(), nullptr, nullptr)};
  }

 private:
  const net::UniqueFd listening_;
  std::string address_;
};

TEST(HostileHandshake, ThatTricklesIsNotWaitedForLonger) {
  for (const std::string scheme : {"ws://", "grpc://"}) {
    SCOPED_TRACE(scheme);
    const RawServer server;
    std::atomic<bool> stopping = false;
    std::thread trickle([&] {
      // Each the beginning of what a client hopes for.
      const std::string text =
          scheme == "ws://"
              ? "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nX: " + std::string(1000, 'x')
              : std::string("\0\0\6\4\0\0\0\0\0\0\3\0\0\0\100", 15) + std::string("\0\x40\0\6\0\0\0\0\0", 9);
      while (!stopping) {
        const RawSocket peer(server.accept());
        if (peer.descriptor() < 0) return;
        for (std::size_t i = 0; i < text.size() && !stopping; ++i) {
          if (!peer.write(text.substr(i, 1))) break;
          std::this_thread::sleep_for(50ms);
        }
      }
    });
    const auto begin = Clock::now();
    const auto session = net::connect(scheme + server.address(), {.timeout_seconds = 1});
    EXPECT_EQ(session.status().code(), StatusCode::unavailable) << session.status().to_string();
    EXPECT_LT(Clock::now() - begin, 5s);
    stopping = true;
    (void)net::connect(scheme + server.address(), {.timeout_seconds = 1});  // wakes accept()
    trickle.join();
  }
}

TEST_P(HostileServer, ThatDoesNotWelcomeIsNotWaitedForLonger) {
  acceptor_.keep_frames = false;
  listener_ = *listen(GetParam(), acceptor_);
  const auto begin = Clock::now();
  const auto session = net::connect(listener_->url(), {.timeout_seconds = 1});
  EXPECT_THAT(session.status().message(), HasSubstr("does not complete the handshake"));
  EXPECT_LT(Clock::now() - begin, 5s);
}

TEST(HostileWebSocketServer, ThatOnlyPingsIsGivenUp) {
  const RawServer server;
  std::thread pings([&] {
    const RawSocket peer(server.accept());
    std::string request;
    while (request.find("\r\n\r\n") == std::string::npos) {
      const auto more = peer.read_some();
      if (more.empty()) return;
      request += more;
    }
    const auto answer = net::ws::answer_upgrade(request);
    const auto frame = bytes_of(welcome());
    ASSERT_LT(frame.size(), 126u);
    if (!peer.write(answer.text + '\x82' + static_cast<char>(frame.size()) + frame)) return;
    while (peer.write(std::string("\x89\0", 2))) std::this_thread::sleep_for(10ms);
  });
  const auto session =
      net::connect("ws://" + server.address(), {.timeout_seconds = 5, .lease_seconds = 0, .answer_timeout_seconds = 1});
  ASSERT_TRUE(session.ok()) << session.status().to_string();
  SyncOutcome sync;
  (*session)->sync(sync.callback());
  EXPECT_EQ(sync.get().code(), StatusCode::deadline_exceeded);
  (*session)->close();
  pings.join();
}

}  // namespace
}  // namespace burn::test
