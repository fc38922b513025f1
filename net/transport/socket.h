// Plain sockets: what both ends need before bytes flow. No state; thread-safe.
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
std::string to_string(const HostPort& address);  // the inverse

// "127.0.0.1:40312", "[::1]:40312"; of a unix socket's peer "unix:" and its process.
std::string peer_name(int fd);
std::string to_string(const sockaddr* address);

// "Connection refused".
std::string errno_text(int error);

// Of TCP small messages leave at once; unix sockets, which never wait with them, take a chunk at a time.
void tune_stream(int fd);
// Of TCP: the same, and a peer that confirms nothing for `timeout` is gone.
void tune_accepted(int fd, std::chrono::milliseconds timeout);

}  // namespace burn::net
