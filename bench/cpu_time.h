// Processor time of a benchmark's calls, in this process and in the server process: unlike elapsed time, it is hardly
// affected by other processes on the machine.
#pragma once

#include <sys/types.h>

namespace burn::bench {

struct CpuSeconds {
  double own = 0, server = 0;
};

// Processor time since the processes started. `server` may be 0: no other process. Errors (thrown): there is no such
// process.
CpuSeconds cpu_seconds(pid_t server);

}  // namespace burn::bench
