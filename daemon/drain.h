// Graceful shutdown of a service. First, clients that support notices are told when the end will be, and get time to
// leave; then no new work is accepted, what was sent is executed and answered, and each client is told why its
// connection ends.
#pragma once

#include <chrono>

#include "daemon/connection_acceptor.h"
#include "net/serve/leases.h"

namespace burn::daemon {

// Used by one thread.
class Drain {
 public:
  using Clock = std::chrono::steady_clock;

  // `end`: the deadline at which sessions are ended.
  explicit Drain(Clock::time_point end) : end_(end) {}

  // Announces the end to clients that support notices, and waits until none of them has a session, or until the
  // deadline. Meanwhile clients may reconnect, over connections that `acceptor` accepts.
  void wait_for_notified(const ConnectionAcceptor& acceptor, const net::Leases& leases) const;
  // Stops every connection from accepting more work, and waits until all received work is executed and its answers are
  // sent. Returns false if the deadline passes first.
  bool wait_for_answers(const Connections& connections) const;
  // Tells every client the reason `why`, and closes the connections.
  static void close(const Connections& connections, const Status& why);

 private:
  const Clock::time_point end_;
};

}  // namespace burn::daemon
