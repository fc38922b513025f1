// Creates listening sockets, before a transport uses them: resolves the address, binds, and describes a failure.
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
  std::string file = {};  // of a unix socket that was bound here; the caller removes it
};

// Prefix of the descriptor of a listening socket that the process inherited, given instead of an address to bind.
inline constexpr std::string_view kInherited = "fd:";  // "fd:3"

// `address` may be "fd:3" (kInherited). Errors: as in listener.h; INVALID_ARGUMENT if the inherited descriptor is not a
// listening stream socket of the function's family (TCP or unix).
Result<BoundSocket> bind_tcp(const std::string& address, bool loopback_only = false);
Result<BoundSocket> bind_unix(const std::string& path);

}  // namespace burn::net
