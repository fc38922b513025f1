// The memory of a process as the system sees it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include <sys/types.h>
#include <unistd.h>

namespace burn::test {

inline double resident_mib(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::uint64_t pages = 0, resident = 0;
  file >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

}  // namespace burn::test
