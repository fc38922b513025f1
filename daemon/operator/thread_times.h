// The threads of this process by their names: how many there are of each, and the processor time that they have taken.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace burn::daemon {

struct ThreadsOfName {
  std::string name;  // at most 15 bytes, as Linux keeps it; threads that were given none have the program's
  std::size_t count = 0;
  double cpu_seconds = 0;  // user and system; without threads that have ended
};

// Those that have taken the most time first. `folder` has an entry for each thread, as /proc/self/task; empty where it
// cannot be read. Threads that end meanwhile are left out.
std::vector<ThreadsOfName> threads_by_name(const std::string& folder = "/proc/self/task");

}  // namespace burn::daemon
