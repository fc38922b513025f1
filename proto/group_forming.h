// Forming a group of sessions (GroupPlace), as its coordinator does it: a router, or a program with several devices.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "proto/session.h"

namespace burn::proto {

// A group as its coordinator knows it.
struct FormedGroup {
  std::uint32_t group = 0;  // as in GroupPlace
  std::uint64_t epoch = 0;
  std::string ticket;                  // set by form_group(), as are
  std::vector<std::string> addresses;  // of the members, by rank
};

// What the first member that failed said; ok: none did.
struct MemberFailure {
  std::size_t member = 0;
  Status why;
};

// The sessions, by rank, become members of the group. Waits for all of them until the timeout is over.
// Failures: those of Session::prepare_group() and open_group(); DEADLINE_EXCEEDED for a member that does not answer.
MemberFailure form_group(std::span<Session* const> members, FormedGroup& group, std::chrono::milliseconds timeout);

// Whether every member says that the group stands. Requires: form_group() went well.
MemberFailure check_group(std::span<Session* const> members, const FormedGroup& group,
                          std::chrono::milliseconds timeout);

}  // namespace burn::proto
