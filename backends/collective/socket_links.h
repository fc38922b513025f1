// Links over TCP sockets: one connection for each direction between two members.
//
// A member sends its numbers on the connections that it opened, and receives on those that were opened to it. Nothing
// of a group flows back on a connection, except why the receiver ends the group, which so overtakes the numbers.
#pragma once

#include <memory>
#include <vector>

#include "backends/collective/links.h"
#include "base/unique_fd.h"

namespace burn::backends {

// To and from one other member: connected, and not blocking.
struct PeerSockets {
  UniqueFd to, from;
};

// `peers`: by rank; nothing at this member's own. Errors: RESOURCE_EXHAUSTED, the process has no file left.
Result<std::unique_ptr<Links>> make_socket_links(int rank, std::vector<PeerSockets> peers);

}  // namespace burn::backends
