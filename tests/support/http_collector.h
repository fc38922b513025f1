// An HTTP server that stores the requests it receives.
#pragma once

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace burn::test {

// Listens on a free port of 127.0.0.1 and serves one connection at a time, each with one request.
class HttpCollector {
 public:
  struct Request {
    std::string head, body;
  };

  // `answer`: the complete response to every request: "HTTP/1.1 200 OK\r\n...".
  explicit HttpCollector(std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
      : answer_(std::move(answer)), socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    (void)::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size);
    (void)::listen(socket_, 16);
    (void)::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread{[this] { serve(); }};
  }
  ~HttpCollector() {
    ::shutdown(socket_, SHUT_RDWR);  // accept() returns
    thread_.join();
    ::close(socket_);
  }
  HttpCollector(const HttpCollector&) = delete;
  HttpCollector& operator=(const HttpCollector&) = delete;

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<Request> requests() const {
    const std::lock_guard lock{mutex_};
    return requests_;
  }
  // The bodies of all requests, concatenated.
  std::string bodies() const {
    std::string all;
    for (const auto& request : requests()) all += request.body;
    return all;
  }

 private:
  void serve() {
    for (int peer = -1; (peer = ::accept(socket_, nullptr, nullptr)) >= 0; ::close(peer)) {
      auto request = read(peer);
      const std::lock_guard lock{mutex_};
      requests_.push_back(std::move(request));
      (void)::send(peer, answer_.data(), answer_.size(), MSG_NOSIGNAL);
    }
  }

  static Request read(int peer) {
    std::string text;
    std::array<char, 4096> buffer{};
    for (;;) {
      const auto end = text.find("\r\n\r\n");
      if (end != std::string::npos) {
        const auto length = text.find("Content-Length: ");
        const auto size = length < end ? std::strtoul(text.c_str() + length + 16, nullptr, 10) : 0;
        if (text.size() >= end + 4 + size) return {text.substr(0, end), text.substr(end + 4)};
      }
      const auto got = ::recv(peer, buffer.data(), buffer.size(), 0);
      if (got <= 0) return {text, {}};
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

  const std::string answer_;
  const int socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<Request> requests_;
  std::thread thread_;
};

}  // namespace burn::test
