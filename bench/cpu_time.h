// Processor time of a benchmark's calls, in this process and in the process that serves it: unlike the time on the
// clock, hardly disturbed by others on the same machine.
#pragma once

#include <sys/types.h>

namespace burn::bench {

struct CpuSeconds {
  double own = 0, server = 0;
};

// Since the processes began. `server` may be 0: none, or this process. Errors (thrown): there is no such process.
CpuSeconds cpu_seconds(pid_t server);

}  // namespace burn::bench
