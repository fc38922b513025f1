// How the members of a group find each other: each listens at an address of its own, is told those of the others by
// their coordinator, and calls all of them.
//
// A caller says half of the group's ticket and gets the other half as the answer, so that neither side takes part in
// anything with a peer that the coordinator did not tell the ticket. The ticket is no protection against a network that
// others can read: the members' addresses are to be on loopback or in a network of their own.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include "backends/collective/links.h"

namespace burn::backends {

inline constexpr std::size_t kTicketBytes = 16;

class Rendezvous {
 public:
  Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  virtual ~Rendezvous() = default;

  // Listens at a free port of `host`, an address in digits. Requires: a ticket of kTicketBytes, 0 <= rank < size.
  // Errors: INVALID_ARGUMENT, UNAVAILABLE for an address that is not this machine's, RESOURCE_EXHAUSTED.
  static Result<std::unique_ptr<Rendezvous>> listen(const std::string& host, const std::string& ticket, int rank,
                                                    int size);

  virtual const std::string& address() const = 0;  // "127.0.0.1:41001", "[::1]:41001"

  // Connects to all other members, and waits for them to connect; once. `addresses`: by rank; this member's own is not
  // looked at. A member on loopback calls no other address than loopback.
  // Errors: INVALID_ARGUMENT for an address that is none; UNAVAILABLE for a member that cannot be called, or does not
  // know the ticket; DEADLINE_EXCEEDED, naming those that are missing; what stop() was given.
  virtual Result<std::unique_ptr<Links>> meet(std::span<const std::string> addresses,
                                              std::chrono::milliseconds deadline) = 0;
  // From any thread: meet() fails for this reason, now or when it is called.
  virtual void stop(const Status& why) = 0;
};

}  // namespace burn::backends
