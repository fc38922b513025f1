// Listening sockets before any transport is on them: addresses are resolved here, and a failure to bind gets its
// sentence.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "net/transport/socket.h"

namespace burn::net {

struct BoundSocket {
  UniqueFd fd;            // listening, non-blocking
  std::string address;    // "127.0.0.1:3000", with the real port
  std::string file = {};  // of a unix socket that was bound here, for its owner to remove
};

// A socket that the process was started with, by its descriptor, in place of an address to bind.
inline constexpr std::string_view kInherited = "fd:";  // "fd:3"

// An address may be kInherited's: INVALID_ARGUMENT where it is no stream socket that listens, of TCP or unix as the
// function is for. Errors: as in listener.h.
Result<BoundSocket> bind_tcp(const std::string& address, bool loopback_only = false);
Result<BoundSocket> bind_unix(const std::string& path);

}  // namespace burn::net
