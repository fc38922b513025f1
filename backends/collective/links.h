// What the members of a group have between them: a stream of bytes from each to each other.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include <sys/uio.h>

#include "base/status.h"

namespace burn::backends {

// One member's end of all of its streams. Of one thread, but for abort(), leave() and health(). Once it has ended,
// every call fails for the same reason.
class Links {
 public:
  Links() = default;
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  virtual ~Links() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // As many bytes, from the first on, as can go without waiting: their number, which may be 0. `peer`: another rank.
  // Errors: UNAVAILABLE for a peer that is gone, or what it said when it ended; that is the end of all links.
  virtual Result<std::size_t> send(int peer, std::span<const iovec> bytes) = 0;
  virtual Result<std::size_t> receive(int peer, std::span<const iovec> places) = 0;

  struct Wanted {
    bool to_send = false, to_receive = false;
  };
  // Until one of the streams may go on as wanted (by rank), or so much time has passed. Errors: why the links ended
  // meanwhile, also where a peer that is not waited for has ended them.
  virtual Status wait(std::span<const Wanted> wanted, std::chrono::milliseconds most) = 0;

  // Collective::abort(), leave() and health().
  virtual void abort(const Status& why) = 0;
  virtual void leave(const Status& why) = 0;
  virtual Status health() const = 0;
};

// What the others are told of a member that ends the group.
Status of_member(int rank, const Status& why);  // "member 2: why"
Status member_left(int rank);                   // UNAVAILABLE: "member 2 left the group"

}  // namespace burn::backends
