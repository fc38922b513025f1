// Listening sockets before any transport is on them: addresses are resolved here, and a failure to bind gets its
// sentence.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "net/transport/socket.h"

namespace burn::net {

struct BoundSocket {
  UniqueFd fd;          // listening, non-blocking
  std::string address;  // "127.0.0.1:3000", with the real port
};

// Errors: as in listener.h.
Result<BoundSocket> bind_tcp(const std::string& address, bool loopback_only = false);
Result<BoundSocket> bind_unix(const std::string& path);

}  // namespace burn::net
