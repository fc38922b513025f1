// How the members of a group find each other: each listens at an address of its own, gets the addresses of the others
// from their coordinator, and connects to all of them.
//
// A connecting member sends half of the group's ticket and gets the other half as the answer, so that neither side
// exchanges data with a peer that does not have the coordinator's ticket. The ticket is no protection against a network
// that others can read: the members' addresses must be on loopback or in a private network.
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

  // Listens at a free port of `host`, a numeric address. Requires: a ticket of kTicketBytes, 0 <= rank < size.
  // Errors: INVALID_ARGUMENT, UNAVAILABLE for an address that is not this machine's, RESOURCE_EXHAUSTED.
  static Result<std::unique_ptr<Rendezvous>> listen(const std::string& host, const std::string& ticket, int rank,
                                                    int size);

  virtual const std::string& address() const = 0;  // "127.0.0.1:41001", "[::1]:41001"

  // Connects to all other members, and waits for them to connect; may be called once. `addresses`: by rank; this
  // member's own is ignored. A member on loopback connects to loopback addresses only.
  // Errors: INVALID_ARGUMENT for a malformed address; UNAVAILABLE for a member that cannot be reached, or does not know
  // the ticket; DEADLINE_EXCEEDED, naming the missing members; the status given to stop().
  virtual Result<std::unique_ptr<Links>> meet(std::span<const std::string> addresses,
                                              std::chrono::milliseconds deadline) = 0;
  // Makes meet() fail for this reason, now or when it is called. From any thread.
  virtual void stop(const Status& why) = 0;
};

}  // namespace burn::backends
