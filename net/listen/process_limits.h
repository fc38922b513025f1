// What the operating system still lets this process have: memory, descriptors, threads. Asked before a client is
// accepted, and when a daemon starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/status.h"

namespace burn::net {

// Bytes of address space that must be free to accept a connection. For a new client: a thread's stack and arena, a
// socket's buffers, the largest frame. For a client that resumes a session, which has its thread already: less.
inline constexpr std::uint64_t kConnectionReserve = std::uint64_t{160} << 20;
inline constexpr std::uint64_t kResumeReserve = std::uint64_t{96} << 20;

// False when the address space is limited (ulimit -v) and at most `reserve` bytes of it are free: these are for the
// sessions that exist, and for libraries that end the process when an allocation fails, as gRPC does.
bool has_memory_for_connection(std::uint64_t reserve = kConnectionReserve);

// Descriptors that this process has open; nothing where the system does not say.
std::optional<std::size_t> open_descriptors();

// Descriptors that may still be opened under this process's limit.
std::size_t free_descriptors();

// Whether the system lets this process start `count` more threads. Starts and ends that many; meant for the start of a
// program, as gRPC ends the process or waits for ever when one of its own threads cannot be started.
// Errors: RESOURCE_EXHAUSTED.
Status check_threads(int count);

// Raises the soft limit of open descriptors to the hard one. Where the address space is limited, lets threads share
// their heaps, each of which reserves 64 MiB. Meant for the start of a program.
void raise_process_limits();

}  // namespace burn::net
