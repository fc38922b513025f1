// The operator's port over sockets: what comes slowly, in masses, or without end.
#include "daemon/operator/port.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/error.h"
#include "daemon/operator/client.h"
#include "net/transport/socket.h"
#include "tests/daemon/operator/fake_source.h"
#include "tests/support/temp_folder.h"

namespace burn::daemon {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

constexpr auto kTimeout = 5s;

// A client that says what a test wants.
class RawClient {
 public:
  explicit RawClient(const std::string& address) {
    const auto where = value_or_throw(net::parse_host_port(address));
    sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(where.port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socket_ = net::UniqueFd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    BURN_CHECK(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0, "no connection");
  }

  // False when the other end is gone.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Until the other end closes.
  std::string read_all() const {
    std::string all;
    char buffer[4096];
    pollfd waited{.fd = socket_.get(), .events = POLLIN, .revents = 0};
    while (::poll(&waited, 1, 20'000) == 1) {
      const auto got = ::recv(socket_.get(), buffer, sizeof buffer, 0);
      if (got <= 0) return all;
      all.append(buffer, static_cast<std::size_t>(got));
    }
    ADD_FAILURE() << "the connection is not closed";
    return all;
  }

 private:
  net::UniqueFd socket_;
};

class OperatorPortTest : public testing::Test {
 protected:
  std::string address() const { return port_.url().substr(7); }  // behind http://
  OperatorAnswer get(std::string_view path) const {
    return value_or_throw(ask_operator(address(), "GET", path, kTimeout));
  }

  FakeSource source_;
  OperatorPort port_{"127.0.0.1:0", source_};
};

TEST_F(OperatorPortTest, AnswersWhatItIsAsked) {
  EXPECT_THAT(port_.url(), StartsWith("http://127.0.0.1:"));
  EXPECT_EQ(get("/readyz").body, "ok\n");
  source_.is_ready = false;
  EXPECT_EQ(get("/readyz").status, 503);
  EXPECT_THAT(get("/metrics").body, HasSubstr("burn_sessions_limit 7\n"));
  EXPECT_EQ(value_or_throw(ask_operator(address(), "POST", "/drain", kTimeout)).status, 202);
  EXPECT_EQ(source_.drains, 1);
}

TEST_F(OperatorPortTest, AnswersRequestsThatComeTogether) {
  const RawClient client{address()};
  std::string requests;
  for (int i = 0; i < 300; ++i) requests += "GET /readyz HTTP/1.1\r\n\r\n";
  ASSERT_TRUE(client.send(requests + "GET /readyz HTTP/1.1\r\nConnection: close\r\n\r\n"));
  const auto all = client.read_all();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = all.find("\r\n\r\nok\n", at)) != std::string::npos; ++at) ++count;
  EXPECT_EQ(count, 301u);
}

TEST_F(OperatorPortTest, APathOfAMegabyteIsRefusedAndTheRefusalArrives) {
  const RawClient client{address()};
  (void)client.send("GET /" + std::string(1 << 20, 'a') + " HTTP/1.1\r\n\r\n");  // it may be closed on the way
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 431 "));
}

TEST_F(OperatorPortTest, ARequestThatDoesNotComeToItsEndIsEnded) {
  const auto begin = std::chrono::steady_clock::now();
  const RawClient slow{address()}, silent{address()};
  ASSERT_TRUE(slow.send("GET /readyz HTTP/1.1\r\nX-slow: "));
  EXPECT_THAT(slow.read_all(), StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(silent.read_all(), "");
  const auto waited = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(waited, OperatorPort::kRequestTimeout - 100ms);
  EXPECT_LT(waited, OperatorPort::kRequestTimeout + 5s);
}

TEST_F(OperatorPortTest, AThousandConnectionsAreBounded) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_max < 3000) GTEST_SKIP() << "descriptors for both ends are needed";
  std::vector<RawClient> clients;
  for (int i = 0; i < 1000; ++i) clients.emplace_back(address());
  // The port has room for some of a peer; others are told, or closed, and those that say nothing are soon gone.
  EXPECT_THAT(clients[OperatorPort::kMaxOfOnePeer].read_all(), HasSubstr("connections to the operator's port"));
  clients.clear();
  for (int i = 0; i < 200; ++i) {
    const auto answer = ask_operator(address(), "GET", "/readyz", kTimeout);
    if (answer.ok() && answer->status == 200) return;
  }
  FAIL() << "the port does not recover";
}

TEST(OperatorPort, ListensOnAUnixSocketThatOthersCannotOpen) {
  const test::TempFolder folder;
  const auto path = folder.path() / "operator.sock";
  FakeSource source;
  {
    const OperatorPort port{"unix:" + path.string(), source};
    EXPECT_EQ(port.url(), "unix:" + path.string());
    struct stat file {};
    ASSERT_EQ(::stat(path.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777, 0660u);
    EXPECT_EQ(value_or_throw(ask_operator(port.url(), "GET", "/status", kTimeout)).status, 200);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(OperatorPort, SaysWhyItCannotListen) {
  FakeSource source;
  const OperatorPort first{"127.0.0.1:0", source};
  const auto error_of = [&](const std::string& address) {
    try {
      const OperatorPort port{address, source};
    } catch (const Error& error) {
      return error.code();
    }
    return StatusCode::ok;
  };
  EXPECT_EQ(error_of(first.url().substr(7)), StatusCode::unavailable);
  EXPECT_EQ(error_of("nonsense"), StatusCode::invalid_argument);
  EXPECT_EQ(error_of("unix:"), StatusCode::invalid_argument);
}

TEST(AskOperator, SaysWhyThereIsNoAnswer) {
  EXPECT_EQ(ask_operator("nonsense", "GET", "/", kTimeout).status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(ask_operator("127.0.0.1:1", "GET", "/", kTimeout).status().code(), StatusCode::unavailable);
  EXPECT_EQ(ask_operator("unix:/no/such/socket", "GET", "/", kTimeout).status().code(), StatusCode::unavailable);
}

}  // namespace
}  // namespace burn::daemon
