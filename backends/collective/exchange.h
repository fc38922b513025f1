// One round of a collective: every member sends something to every other one, and receives something from it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/collective/links.h"
#include "backends/collective/strip.h"
#include "base/failure.h"

namespace burn::backends {

// What this member and another one send each other. A range without data is received and dropped.
struct PeerPart {
  StripRange to_send, to_receive;
};

struct Round {
  std::uint64_t number = 0;     // of the group's rounds: the same on all members
  std::uint64_t what = 0;       // a hash of the collective: the same on all members
  Failure failed;               // why this member has nothing to send: this is sent instead
  std::vector<PeerPart> parts;  // by rank; this member's own is ignored
};

// What a member sends instead of numbers.
struct MemberFailure {
  int rank = 0;
  Status why;
};

// Sends and receives everything. Returns the failure of the lowest rank that has one, of this member or another;
// std::nullopt if all parts have arrived. Errors: why the links have ended; FAILED_PRECONDITION for a member that
// performs another collective, INVALID_ARGUMENT for malformed bytes, and why the run that the thread works for is
// interrupted. After an error the links are unusable, and the caller must end them.
Result<std::optional<MemberFailure>> exchange(Links& links, const Round& round);

}  // namespace burn::backends
