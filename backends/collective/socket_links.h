// Links over TCP sockets: one connection for each direction between two members.
//
// A member sends its numbers on the connections that it opened, and receives on those that were opened to it. Nothing
// of a group flows back on a connection, except why the receiver ends the group, which so overtakes the numbers.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <unistd.h>

#include "backends/collective/links.h"

namespace burn::backends {

// An open file, closed with it.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// To and from one other member: connected, and not blocking.
struct PeerSockets {
  Descriptor to, from;
};

// `peers`: by rank; nothing at this member's own. Errors: RESOURCE_EXHAUSTED, the process has no file left.
Result<std::unique_ptr<Links>> make_socket_links(int rank, std::vector<PeerSockets> peers);

}  // namespace burn::backends
