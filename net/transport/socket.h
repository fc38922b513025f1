// Helpers for plain sockets. No state; thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "base/unique_fd.h"

struct sockaddr;

namespace burn::net {

using burn::UniqueFd;

struct HostPort {
  std::string host;  // a name or a numeric address; IPv6 without its brackets
  std::uint16_t port = 0;
};

// "host:3000", "127.0.0.1:3000", "[::1]:3000". Errors: INVALID_ARGUMENT with what is wrong with it.
Result<HostPort> parse_host_port(std::string_view text);
std::string to_string(const HostPort& address);  // the inverse of parse_host_port()

// The peer's name: "127.0.0.1:40312", "[::1]:40312"; for a unix socket "unix:" and its process.
std::string peer_name(int fd);
std::string to_string(const sockaddr* address);

// The system's text for an errno: "Connection refused".
std::string errno_text(int error);

// Makes TCP send small messages at once; enlarges the buffer of unix sockets, which never delay them, for a whole
// chunk.
void tune_stream(int fd);
// For TCP: the same, and the connection fails if the peer acknowledges nothing for `timeout`.
void tune_accepted(int fd, std::chrono::milliseconds timeout);

}  // namespace burn::net
