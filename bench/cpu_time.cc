#include "bench/cpu_time.h"

#include <ctime>
#include <stdexcept>
#include <string>

namespace burn::bench {
namespace {

double seconds(clockid_t clock, pid_t pid) {
  timespec now{};
  if (clock_gettime(clock, &now) != 0)
    throw std::runtime_error("process " + std::to_string(pid) + " does not tell its processor time");
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

CpuSeconds cpu_seconds(pid_t server) {
  CpuSeconds now{seconds(CLOCK_PROCESS_CPUTIME_ID, 0), 0};
  if (server == 0) return now;
  clockid_t clock{};
  if (clock_getcpuclockid(server, &clock) != 0)
    throw std::runtime_error("there is no process " + std::to_string(server));
  now.server = seconds(clock, server);
  return now;
}

}  // namespace burn::bench
