// How much memory and how many descriptors and threads the operating system still allows this process. Checked before a
// client is accepted, and when a daemon starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/status.h"

namespace burn::net {

// Bytes of address space that must be free to accept a connection. For a new client: a thread's stack and arena, the
// socket's buffers, the largest frame. Less for a client that resumes a session, which already has its thread.
inline constexpr std::uint64_t kConnectionReserve = std::uint64_t{160} << 20;
inline constexpr std::uint64_t kResumeReserve = std::uint64_t{96} << 20;

// False when the address space is limited (ulimit -v) and at most `reserve` bytes of it are free. These are kept for
// the existing sessions, and for libraries that end the process when an allocation fails, as gRPC does.
bool has_memory_for_connection(std::uint64_t reserve = kConnectionReserve);

// Number of descriptors that this process has open; std::nullopt if the system does not say.
std::optional<std::size_t> open_descriptors();

// Number of descriptors that may still be opened under this process's limit.
std::size_t free_descriptors();

// Checks that the system lets this process start `count` more threads, by starting and ending that many. Meant for the
// start of a program, as gRPC ends the process or waits forever when one of its own threads cannot be started.
// Errors: RESOURCE_EXHAUSTED.
Status check_threads(int count);

// Raises the soft limit of open descriptors to the hard one. If the address space is limited, makes threads share
// heaps, as each heap reserves 64 MiB. Meant for the start of a program.
void raise_process_limits();

}  // namespace burn::net
