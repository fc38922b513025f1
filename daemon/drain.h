// The end of a service as its clients see it: clients that take notices are told, and given time; then no new work is
// taken, what was sent is executed and answered, and each client is told why its connection ends.
#pragma once

#include <chrono>

#include "daemon/connection_acceptor.h"
#include "net/serve/leases.h"

namespace burn::daemon {

// Used by one thread.
class Drain {
 public:
  using Clock = std::chrono::steady_clock;

  // `end`: when sessions are ended at the latest.
  explicit Drain(Clock::time_point end) : end_(end) {}

  // Tells clients that take notices when the end is, and waits until none of them has a session, or the end has come.
  // Clients may come back meanwhile, over connections that `acceptor` accepts.
  void wait_for_notified(const ConnectionAcceptor& acceptor, const net::Leases& leases) const;
  // Has every connection take no further work, and waits until all that came is executed and its answers are sent.
  // False when the end had come before that.
  bool wait_for_answers(const Connections& connections) const;
  // Tells every client `why`, and closes.
  static void close(const Connections& connections, const Status& why);

 private:
  const Clock::time_point end_;
};

}  // namespace burn::daemon
