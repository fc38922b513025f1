// Forms a group of sessions (GroupPlace). For coordinators: a router, or a program with several devices.
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
  std::string ticket;                  // set by form_group()
  std::vector<std::string> addresses;  // of the members, by rank; set by form_group()
};

// The first member that failed and its error; ok: none did.
struct MemberFailure {
  std::size_t member = 0;
  Status why;
};

// Makes the sessions, in order of rank, members of the group. Waits for all of them until the timeout.
// Failures: those of Session::prepare_group() and open_group(); DEADLINE_EXCEEDED for a member that does not answer.
MemberFailure form_group(std::span<Session* const> members, FormedGroup& group, std::chrono::milliseconds timeout);

// Checks that the group works for every member. Requires: form_group() succeeded.
MemberFailure check_group(std::span<Session* const> members, const FormedGroup& group,
                          std::chrono::milliseconds timeout);

}  // namespace burn::proto
