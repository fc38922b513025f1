// The end of a service as its clients see it: no new work is taken, what was sent is executed and answered, then each
// client is told why its connection ends.
#pragma once

#include <chrono>

#include "daemon/connection_acceptor.h"

namespace burn::daemon {

// Used by one thread.
class Drain {
 public:
  // `connections`: all that are open; the listeners accept no more.
  explicit Drain(Connections connections) : connections_(std::move(connections)) {}

  // Has every connection take no further work, and waits until all that came is executed and its answers are sent.
  // False when `timeout` was over before that.
  bool wait_for_answers(std::chrono::milliseconds timeout) const;
  // Tells every client `why`, and closes.
  void close(const Status& why) const;

 private:
  const Connections connections_;
};

}  // namespace burn::daemon
