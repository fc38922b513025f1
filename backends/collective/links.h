// The connections between the members of a group: a stream of bytes from each member to each other one.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>

#include <sys/uio.h>

#include "base/status.h"

namespace burn::backends {

// One member's end of all of its streams. Used by one thread, except for abort(), leave() and health(). Once it has
// ended, every call fails for the same reason.
class Links {
 public:
  Links() = default;
  Links(const Links&) = delete;
  Links& operator=(const Links&) = delete;
  virtual ~Links() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Transfer as many bytes, from the first one on, as is possible without waiting, and return their number, which may
  // be 0. `peer`: another rank. Errors: UNAVAILABLE for a peer that is gone, or the reason that it sent when it ended;
  // this ends all links.
  virtual Result<std::size_t> send(int peer, std::span<const iovec> bytes) = 0;
  virtual Result<std::size_t> receive(int peer, std::span<const iovec> places) = 0;

  struct Wanted {
    bool to_send = false, to_receive = false;
  };
  // Waits until one of the wanted streams (by rank) can proceed, or `most` has passed. Errors: why the links have
  // ended, also if they were ended by a peer that is not waited for.
  virtual Status wait(std::span<const Wanted> wanted, std::chrono::milliseconds most) = 0;

  // Collective::abort(), leave() and health().
  virtual void abort(const Status& why) = 0;
  virtual void leave(const Status& why) = 0;
  virtual Status health() const = 0;
};

// What the others are told about a member that ends the group.
Status of_member(int rank, const Status& why);  // "member 2: why"
Status member_left(int rank);                   // UNAVAILABLE: "member 2 left the group"

}  // namespace burn::backends
