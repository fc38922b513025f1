// A daemon as a program: prints the addresses on which it listens to stdout, logs to stderr, reads options, tokens,
// tenants and certificates again on SIGHUP, and shuts down on SIGTERM or SIGINT. Serves the operator's port from before
// the devices are opened until the end.
#pragma once

#include <atomic>
#include <csignal>
#include <memory>
#include <string_view>

#include "daemon/operator/port.h"
#include "daemon/process_view.h"
#include "daemon/reload.h"
#include "daemon/service.h"

namespace burn::daemon {

// At most one per process, used on the main thread.
class Process {
 public:
  // Blocks the signals above until run() waits for them, raises the limits of the process, checks the environment's
  // settings and that the service can get the threads that it starts with; then opens the operator's port, if one is
  // configured. Requires: no other thread runs yet, because threads inherit the signal mask. Throws Error:
  // INVALID_ARGUMENT, RESOURCE_EXHAUSTED; those of OperatorPort.
  // `read_options`: reads the options of the process again on SIGHUP; null: they do not change.
  explicit Process(const ServiceOptions& options, ReadOptions read_options = {});

  // Serves until a signal ends it, then stops `service`. Returns the exit code. If sessions do not end, or runs are
  // left behind, exits the process without running destructors. `ready`: logged when all sockets are open.
  int run(Service& service, Host& host, std::string_view ready);

 private:
  int next_signal() const;
  bool can_reload(const Service& service, const Host& host) const;  // if false, SIGHUP ends the process
  int serve(Service& service, Host& host, std::string_view ready);
  int stop(Service& service, const Host& host) const;
  void drain();

  const ServiceOptions options_;
  ReadOptions read_options_;
  sigset_t signals_{};
  std::atomic<bool> is_ending_ = false;  // a signal that ends the process was received or sent
  ProcessView view_;
  std::unique_ptr<OperatorPort> port_;
};

}  // namespace burn::daemon
