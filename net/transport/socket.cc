#include "net/transport/socket.h"

#include <array>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/parse_number.h"

namespace burn::net {

Result<HostPort> parse_host_port(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return invalid_argument("address \"" + std::string{text} + "\" " + std::string{why});
  };
  const auto colon = text.rfind(':');
  const bool bracketed = text.starts_with('[');
  const auto host_end = bracketed ? text.find(']') : colon;
  if (host_end == std::string_view::npos) return bad(bracketed ? "lacks a ]" : "has no port: write HOST:PORT");
  if (bracketed && (colon == std::string_view::npos || colon != host_end + 1)) {
    return bad("has no port: write [ADDRESS]:PORT");
  }
  const auto host = bracketed ? text.substr(1, host_end - 1) : text.substr(0, colon);
  if (host.empty()) return bad("has no host: write HOST:PORT");
  if (!bracketed && host.find(':') != std::string_view::npos) {
    return bad("is ambiguous: write an IPv6 address as [ADDRESS]:PORT");
  }
  const auto digits = text.substr(colon + 1);
  const auto port = parse_number<std::uint16_t>(digits);
  if (!port) return bad("has a port that is not 0 to 65535");
  return HostPort{std::string{host}, *port};
}

std::string to_string(const HostPort& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

std::string to_string(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    return to_string(HostPort{text.data(), ntohs(v4->sin_port)});
  }
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {  // on a socket for both families, so that a peer has one name
      ::inet_ntop(AF_INET, v6->sin6_addr.s6_addr + 12, text.data(), text.size());
      return to_string(HostPort{text.data(), ntohs(v6->sin6_port)});
    }
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return to_string(HostPort{text.data(), ntohs(v6->sin6_port)});
  }
  return "unknown";
}

std::string peer_name(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if (::getpeername(fd, address, &size) != 0) return "unknown";
  if (address->sa_family != AF_UNIX) return to_string(address);
  ucred peer{};
  socklen_t peer_size = sizeof peer;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) != 0) return "unix";
  return "unix:pid " + std::to_string(peer.pid);
}

std::string errno_text(int error) { return std::generic_category().message(error); }

void tune_stream(int fd) {
  const int on = 1;
  if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0) return;  // TCP's buffers grow by themselves
  const int buffer = 1 << 20;
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
}

void tune_accepted(int fd, std::chrono::milliseconds timeout) {
  const int on = 1, milliseconds = static_cast<int>(timeout.count());
  // Unix sockets have neither option and refuse them; they do not need them.
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

}  // namespace burn::net
