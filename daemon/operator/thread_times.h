// The threads of this process grouped by name: their number, and the processor time that they have used.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace burn::daemon {

struct ThreadsOfName {
  std::string name;  // at most 15 bytes, the limit of Linux; unnamed threads have the program's name
  std::size_t count = 0;
  double cpu_seconds = 0;  // user and system time; threads that have ended are not included
};

// Sorted by processor time, largest first. `folder` has an entry for each thread, like /proc/self/task; the result is
// empty if it cannot be read. Threads that end meanwhile are left out.
std::vector<ThreadsOfName> threads_by_name(const std::string& folder = "/proc/self/task");

}  // namespace burn::daemon
