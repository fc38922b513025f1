// A proxy between a client and a worker drops the headers that it does not know.
#include <array>
#include <atomic>
#include <future>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "net/remote/remote_session.h"
#include "server/server.h"
#include "tests/net/raw_socket.h"

namespace burn::server {
namespace {

using test::RawSocket;

// Forwards one connection, and removes "Burn-" headers from requests, responses or both.
class HeaderStrippingProxy {
 public:
  HeaderStrippingProxy(const std::string& server, bool strips_requests, bool strips_responses)
      : server_(server), strips_{strips_requests, strips_responses} {
    EXPECT_EQ(::listen(listener_.get(), 1), 0);  // which binds it to a port of its own
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "ws://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread{[this] { run(); }};
  }
  ~HeaderStrippingProxy() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  const std::string& url() const { return url_; }
  int stripped() const { return stripped_; }

 private:
  void run() {
    const RawSocket client{net::UniqueFd{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)}};
    if (client.descriptor() < 0) return;
    const auto server = RawSocket::connect(server_);
    const std::array<const RawSocket*, 2> ends = {&client, &server};
    std::array<std::string, 2> headers;
    std::array<bool, 2> is_past{};
    std::array<pollfd, 2> ready{};
    while (true) {
      for (std::size_t k = 0; k < 2; ++k) ready[k] = {.fd = ends[k]->descriptor(), .events = POLLIN, .revents = 0};
      if (::poll(ready.data(), 2, -1) < 0) return;
      for (std::size_t k = 0; k < 2; ++k) {
        if (ready[k].revents == 0) continue;
        auto bytes = ends[k]->read_some(1 << 16);
        if (bytes.empty()) return;
        if (!is_past[k]) {
          headers[k] += bytes;
          if (headers[k].find("\r\n\r\n") == std::string::npos) continue;
          is_past[k] = true;
          bytes = strips_[k] ? without_burn_headers(headers[k]) : headers[k];
        }
        if (!ends[1 - k]->write(bytes)) return;
      }
    }
  }
  std::string without_burn_headers(std::string text) {
    for (auto at = text.find("Burn-"); at < text.find("\r\n\r\n"); at = text.find("Burn-")) {
      text.erase(at, text.find("\r\n", at) + 2 - at);
      ++stripped_;
    }
    return text;
  }

  const std::string server_;
  const std::array<bool, 2> strips_;
  const net::UniqueFd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  std::string url_;
  std::atomic<int> stripped_ = 0;
  std::thread thread_;
};

TEST(SaidTwice, AHelloOfWhichTheClientDoesNotLearnThatItWasTakenIsOne) {
  for (const bool requests : {false, true}) {
    for (const bool responses : {false, true}) {
      Server worker({.device = "null", .ws = "127.0.0.1:0"});
      HeaderStrippingProxy between(test::address_of(worker.url()), requests, responses);
      auto session = net::connect(between.url());
      ASSERT_TRUE(session.ok()) << session.status().to_string();
      std::promise<Status> done;
      (*session)->sync([&](Status status) { done.set_value(std::move(status)); });
      EXPECT_TRUE(done.get_future().get().ok());
      EXPECT_EQ(worker.sessions(), 1u);
      EXPECT_EQ(between.stripped(), requests || responses ? 1 : 0);
      EXPECT_EQ((*session)->wire_stats().resumes, 0u);
    }
  }
}

}  // namespace
}  // namespace burn::server
