// State shared by all groups that this program forms of its sessions.
#pragma once

#include <cstdint>
#include <mutex>

namespace burn::client {

inline constexpr std::uint64_t kGroupEpoch = 1;  // groups of one program do not replace each other

// Returns a number that no group of this program has had before.
std::uint32_t next_group_number();

// Held while one operation of a group is recorded and sent on all of its devices. Each session executes its calls in
// order, and waits within an operation for the other members: two operations that arrived in different orders on two
// devices would deadlock.
std::mutex& group_operations();

}  // namespace burn::client
