// What of the machine this process may use: the least of what the machine has, what the control groups around the
// process allow (v1, v2, nested), and what its own limits and affinity say. Stateless; thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace burn {

// Bytes of memory. `root` is where the files of the system lie: another place in tests.
std::uint64_t memory_limit(const std::string& root = "");

// What of memory_limit() is for tensors, programs and messages: a part is left for code, stacks, the allocator's slack
// and what libraries keep. An eighth, at least 256 MiB and at most 4 GiB, but never more than a quarter.
std::uint64_t usable_memory(std::uint64_t limit);
inline std::uint64_t usable_memory() { return usable_memory(memory_limit()); }

// Processors that control groups give it time on: quota over period, rounded up; 0: no such limit.
int cpu_quota(const std::string& root = "");
// Cores to compute on: those of the affinity, but no more than the quota is good for. At least 1.
int usable_cores(const std::string& root = "");
// Of these, those that threads may keep busy by looking for a change instead of sleeping, whose cores take some 50 us
// to wake up on virtual machines: a quarter, rounded down. Asked once.
int cores_to_spare();

}  // namespace burn
