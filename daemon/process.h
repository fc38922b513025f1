// A daemon as a program: prints where it listens to stdout, logs to stderr, reads tokens, tenants and certificates
// again on SIGHUP, and ends on SIGTERM or SIGINT. Has the operator's port, from before the devices are opened to the
// end.
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

// One in a process, on its main thread.
class Process {
 public:
  // Holds back the signals above for run(), raises the process's limits, and checks the environment's settings and that
  // the service gets the threads that it starts with; then opens the operator's port, if there is to be one. Requires:
  // no other thread runs yet, as threads inherit which signals they take. Throws Error: INVALID_ARGUMENT,
  // RESOURCE_EXHAUSTED; as OperatorPort.
  // `read_options`: reads the process's options again on SIGHUP; null: they stay.
  explicit Process(const ServiceOptions& options, ReadOptions read_options = {});

  // Serves until a signal ends it, then stops `service`. Returns the exit code. Where sessions do not end, or runs are
  // left behind, the process is ended here, without destructors. `ready`: logged when all sockets are open.
  int run(Service& service, Host& host, std::string_view ready);

 private:
  int next_signal() const;
  bool can_reload(const Service& service, const Host& host) const;  // SIGHUP ends the process where nothing can be
  int serve(Service& service, Host& host, std::string_view ready);
  int stop(Service& service, const Host& host) const;
  void drain();

  const ServiceOptions options_;
  ReadOptions read_options_;
  sigset_t signals_{};
  std::atomic<bool> is_ending_ = false;  // a signal has come that ends the process, or is on its way
  ProcessView view_;
  std::unique_ptr<OperatorPort> port_;
};

}  // namespace burn::daemon
