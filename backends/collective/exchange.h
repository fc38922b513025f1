// One round of a collective: every member sends something to every other one, and receives something from it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/collective/links.h"
#include "backends/collective/strip.h"
#include "base/failure.h"

namespace burn::backends {

// What goes between this member and another one. A range without data is received to be dropped.
struct PeerPart {
  StripRange to_send, to_receive;
};

struct Round {
  std::uint64_t number = 0;     // of the group's rounds: the same on all members
  std::uint64_t what = 0;       // a hash of what is performed: the same on all members
  Failure failed;               // why this member has nothing to send: it says so instead
  std::vector<PeerPart> parts;  // by rank; this member's own is not looked at
};

// What a member has to say instead of numbers.
struct MemberFailure {
  int rank = 0;
  Status why;
};

// Sends and receives everything. The result is the failure of the lowest rank that has one, of this member or another;
// nothing: all parts have come. Errors: why the links have ended; FAILED_PRECONDITION for a member that performs
// something else, INVALID_ARGUMENT for bytes that make no sense, and why the run that the thread works for is to end.
// After an error the links are of no use, and the caller has to end them.
Result<std::optional<MemberFailure>> exchange(Links& links, const Round& round);

}  // namespace burn::backends
