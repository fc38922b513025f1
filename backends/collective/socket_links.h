// Links over TCP sockets: one connection for each direction between two members.
//
// A member sends on the connections that it opened, and receives on those that were opened to it. Nothing is sent back
// on a connection except the reason for which the receiver ends the group, which thus overtakes the numbers.
#pragma once

#include <memory>
#include <vector>

#include "backends/collective/links.h"
#include "base/unique_fd.h"

namespace burn::backends {

// To and from one other member: connected and non-blocking.
struct PeerSockets {
  UniqueFd to, from;
};

// `peers`: by rank; empty for this member. Errors: RESOURCE_EXHAUSTED if the process has no file descriptor left.
Result<std::unique_ptr<Links>> make_socket_links(int rank, std::vector<PeerSockets> peers);

}  // namespace burn::backends
