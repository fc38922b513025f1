// A daemon as a program: prints where it listens to stdout, logs to stderr, reads its tokens again on SIGHUP, and ends
// on SIGTERM or SIGINT.
#pragma once

#include <csignal>
#include <string_view>

#include "daemon/service.h"

namespace burn::daemon {

// One in a process, on its main thread.
class Process {
 public:
  // Holds back the signals above for run(), raises the process's limits, and checks the environment's settings and that
  // the service gets the threads that it starts with. Requires: no other thread runs yet, as threads inherit which
  // signals they take. Throws Error: INVALID_ARGUMENT, RESOURCE_EXHAUSTED.
  explicit Process(const ServiceOptions& options);

  // Serves until a signal ends it, then stops `service`. Returns the exit code. Where sessions do not end, or runs are
  // left behind, the process is ended here, without destructors. `ready`: logged when all sockets are open.
  int run(Service& service, Host& host, std::string_view ready) const;

 private:
  int next_signal() const;
  int stop(Service& service, const Host& host) const;

  const ServiceOptions options_;
  sigset_t signals_{};
};

}  // namespace burn::daemon
