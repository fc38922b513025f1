// Accepted connections of unix sockets, whose bytes are estimated until one of their calls is authenticated.
#include "net/listen/accept_loop.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/eventually.h"

namespace burn::test {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10s;

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

class UnixAcceptLoop : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove(path_);
    net::UniqueFd listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    const auto address = address_of(path_);
    ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listening.get(), 8), 0);
    const net::PermitLimits limits{.all = 8, .per_peer = 8};
    auto loop = net::AcceptLoop::start(std::move(listening), std::make_shared<net::PermitPool>("connections", limits),
                                       {.accepted = [this](net::UniqueFd socket) { accept(std::move(socket)); },
                                        .tick = [] {},
                                        .limit_exceeded = [](const std::string&) {}});
    ASSERT_TRUE(loop.ok()) << loop.status().to_string();
    loop_ = *std::move(loop);
  }
  void TearDown() override {
    loop_.reset();
    std::filesystem::remove(path_);
  }

  void accept(net::UniqueFd socket) {
    const std::lock_guard lock{mutex_};
    accepted_.push_back(std::move(socket));
  }
  net::UniqueFd connect() {
    net::UniqueFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const auto address = address_of(path_);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  // Sends 720 KB: more than an unauthenticated connection may send, and less than what ends it at once.
  void send_too_much(const net::UniqueFd& client) {
    const std::vector<std::byte> bytes(60 << 10);
    for (int i = 0; i < 12; ++i) {
      ASSERT_EQ(::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
      std::this_thread::sleep_for(10ms);  // so that the loop counts each separately
      read_all();
    }
  }
  void read_all() {
    const std::lock_guard lock{mutex_};
    std::vector<std::byte> bytes(64 << 10);
    for (const auto& socket : accepted_) {
      while (::recv(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) {
      }
    }
  }
  static bool is_open(const net::UniqueFd& client) { return ::send(client.get(), "x", 1, MSG_NOSIGNAL) == 1; }

  const std::string path_ = testing::TempDir() + "accept-loop-" + std::to_string(::getpid());
  std::mutex mutex_;
  std::vector<net::UniqueFd> accepted_;
  std::unique_ptr<net::AcceptLoop> loop_;
};

TEST_F(UnixAcceptLoop, EndsAConnectionThatSendsTooMuchBeforeItIsAuthenticated) {
  const auto client = connect();
  ASSERT_NO_FATAL_FAILURE(send_too_much(client));
  EXPECT_TRUE(eventually([&] { return !is_open(client); }, kPatience));
}

TEST_F(UnixAcceptLoop, CountsOnceWhatTheServerHasNotReadYet) {
  const auto client = connect();
  const std::string bytes(1000, 'x');
  for (int i = 0; i < 60; ++i) {  // if unread bytes were counted again each time, they would add up to 1.8 MB
    ASSERT_EQ(::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), std::ssize(bytes));
    std::this_thread::sleep_for(1ms);
  }
  std::this_thread::sleep_for(2500ms);  // a connection over the limit ends a second later, at a tick
  EXPECT_TRUE(is_open(client));
}

// A client may send much before the hello is handled, on a busy machine.
TEST_F(UnixAcceptLoop, KeepsAConnectionThatIsAuthenticatedAfterItSentMuch) {
  const auto client = connect(), other = connect();
  ASSERT_NO_FATAL_FAILURE(send_too_much(client));
  EXPECT_TRUE(is_open(client)) << "it has a second";
  loop_->unauthenticated_ended("unix:", true);
  std::this_thread::sleep_for(2500ms);  // longer than that second and the tick after it
  EXPECT_TRUE(is_open(client));
  EXPECT_TRUE(is_open(other));
}

}  // namespace
}  // namespace burn::test
