// Whether this process can bear another client, asked before one is taken.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/status.h"

namespace burn::net {

// Of address space. For a new client: a thread's stack and arena, a socket's buffers, the largest frame. For one that
// comes back to a session, which has its thread: less.
inline constexpr std::uint64_t kReserve = std::uint64_t{160} << 20, kReturningReserve = std::uint64_t{96} << 20;

// False when no more than the reserve is left of an address space that is limited (ulimit -v): what is left is for
// the sessions that exist. Libraries that end the process where there is no memory, as gRPC does, are not to come to
// that.
bool has_memory_for_more(std::uint64_t reserve = kReserve);

// Descriptors that may still be opened under the limit of this process.
std::size_t free_descriptors();

// For the start of a program: whether the system lets it have so many more threads. gRPC ends the process or waits for
// ever where one of its own cannot be started. Errors: RESOURCE_EXHAUSTED.
Status check_threads(int count);

// And: raises the limit of open descriptors as far as the system lets us, and where the address
// space is limited has threads share their heaps, which reserve 64 MiB each.
void make_room();

}  // namespace burn::net
