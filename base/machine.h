// How much memory and how many cores this process may use: the minimum of the machine's, of the limits of the cgroups
// around the process (v1, v2, nested), and of its own resource limits and affinity. Stateless; thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace burn {

// Bytes of memory. `root` is prepended to the paths of system files, for tests.
std::uint64_t memory_limit(const std::string& root = "");

// The part of memory_limit() for tensors, programs and messages. The rest is for code, stacks, allocator overhead and
// libraries: an eighth, at least 256 MiB and at most 4 GiB, but never more than a quarter.
std::uint64_t usable_memory(std::uint64_t limit);
inline std::uint64_t usable_memory() { return usable_memory(memory_limit()); }

// Processors that the cgroup CPU limit allows: quota over period, rounded up; 0: no limit.
int cpu_quota(const std::string& root = "");
// Cores to compute on: those of the affinity mask, limited to cpu_quota(). At least 1.
int usable_cores(const std::string& root = "");
// How many of them may be kept busy by spinning threads: a quarter, rounded down. Spinning avoids a sleep, as waking a
// core takes about 50 us on virtual machines. Computed once.
int cores_to_spare();

}  // namespace burn
