#include "tests/net/raw_socket.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace burn::test {
namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

}  // namespace

RawSocket RawSocket::connect(const std::string& address, int receive_bytes, const char* from) {
  net::UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (receive_bytes > 0) ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  if (from) {
    sockaddr_in ours = loopback(0);
    ::inet_pton(AF_INET, from, &ours.sin_addr);
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&ours), sizeof ours) != 0) std::perror(from);
  }
  if (!connect(fd, address)) {
    std::perror(address.c_str());
    std::abort();
  }
  return RawSocket{std::move(fd)};
}

bool RawSocket::connect(const net::UniqueFd& socket, const std::string& address) {
  const auto where = net::parse_host_port(address);
  const sockaddr_in to = loopback(where->port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
}

void RawSocket::write_some(std::string_view bytes) const {
  (void)!::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool RawSocket::is_open() const {
  char byte;
  const auto n = ::recv(fd_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n > 0 || (n < 0 && errno == EAGAIN);
}

bool RawSocket::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const auto n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string RawSocket::read_until_closed(std::chrono::milliseconds patience, bool* closed) const {
  std::string got;
  const auto end = std::chrono::steady_clock::now() + patience;
  *closed = false;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd waiting{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) == 0) return got;
    std::array<char, 4096> block{};
    const auto n = ::read(fd_.get(), block.data(), block.size());
    if (n <= 0) {
      *closed = true;
      return got;
    }
    got.append(block.data(), static_cast<std::size_t>(n));
  }
}

std::string RawSocket::read_some(std::size_t limit) const {
  std::string block(limit, '\0');
  const auto n = ::read(fd_.get(), block.data(), block.size());
  block.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return block;
}

void RawSocket::reset() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

std::string RawSocket::upgrade(std::string_view more) const {
  const std::string request =
      "GET / HTTP/1.1\r\nHost: test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n";
  write(request + std::string{more} + "\r\n");
  std::string answer;
  while (answer.find("\r\n\r\n") == std::string::npos) {
    const std::string some = read_some(1);
    if (some.empty()) break;
    answer += some;
  }
  return answer.substr(0, answer.find('\r'));
}

Proxy::Proxy(const std::string& server) : server_(server), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_.get(), any, size) != 0 || ::listen(listener_.get(), 8) != 0) std::abort();
  ::getsockname(listener_.get(), any, &size);
  address_ = net::to_string(any);
  thread_ = std::thread([this] { run(); });
}

Proxy::~Proxy() {
  stopping_ = true;
  thread_.join();
}

void Proxy::run() {
  const auto wait = [](std::vector<pollfd>& fds) { return ::poll(fds.data(), fds.size(), 10); };
  std::vector<pollfd> first{{.fd = listener_.get(), .events = POLLIN, .revents = 0}};
  while (wait(first) == 0) {
    if (stopping_) return;
  }
  const net::UniqueFd client{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  const auto where = net::parse_host_port(server_);
  const net::UniqueFd server{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const sockaddr_in to = loopback(where->port);
  if (::connect(server.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return;

  std::vector<pollfd> both{{.fd = client.get(), .events = POLLIN, .revents = 0},
                           {.fd = server.get(), .events = POLLIN, .revents = 0}};
  std::array<char, 65536> block{};
  while (!stopping_) {
    wait(both);
    for (std::size_t i = 0; i < 2; ++i) {
      if (both[i].revents == 0) continue;
      const auto n = ::read(both[i].fd, block.data(), block.size());
      if (n <= 0) {
        both[i].fd = -1;
        continue;
      }
      const int target = i == 0 ? server.get() : client.get();
      if (!stalled_) (void)!::send(target, block.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL);
    }
  }
}

std::string address_of(const std::string& url) { return url.substr(url.find("://") + 3); }

}  // namespace burn::test
