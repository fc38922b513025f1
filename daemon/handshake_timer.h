// Ends connections whose client does not finish its handshake in time, so that they do not fill the limits.
#pragma once

#include <chrono>

#include "daemon/connection_acceptor.h"

namespace burn::daemon {

// Immutable.
class HandshakeTimer {
 public:
  using Clock = std::chrono::steady_clock;

  // `limit`: from the connection to the end of its handshake.
  explicit HandshakeTimer(std::chrono::seconds limit) : limit_(limit) {}

  std::chrono::seconds limit() const { return limit_; }
  // Ends each connection that has been in its handshake for longer than the limit at time `now`, with
  // DEADLINE_EXCEEDED. Must be called without a lock that connections take.
  void end_overdue(const Connections& open, Clock::time_point now) const;

 private:
  const std::chrono::seconds limit_;
};

}  // namespace burn::daemon
