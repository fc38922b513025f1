// What all groups that this program forms of its sessions have in common.
#pragma once

#include <cstdint>
#include <mutex>

namespace burn::client {

inline constexpr std::uint64_t kGroupEpoch = 1;  // groups of one program do not replace each other

// A number that no group of any session of this program had before.
std::uint32_t next_group_number();

// Held while one operation of a group is recorded and sent on all of its devices. Each session does what it is sent in
// order, and waits in an operation for the other members: two operations that came in another order on one device than
// on another one would wait for each other.
std::mutex& group_operations();

}  // namespace burn::client
