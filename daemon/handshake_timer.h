// Ends connections whose client does not finish its handshake in time, so that they do not use up the connection
// limits.
#pragma once

#include <chrono>

#include "daemon/connection_acceptor.h"

namespace burn::daemon {

// Immutable.
class HandshakeTimer {
 public:
  using Clock = std::chrono::steady_clock;

  // `limit`: the time from the start of the connection to the end of its handshake.
  explicit HandshakeTimer(std::chrono::seconds limit) : limit_(limit) {}

  std::chrono::seconds limit() const { return limit_; }
  // Ends, with DEADLINE_EXCEEDED, each connection whose handshake has taken longer than the limit at time `now`. The
  // caller must not hold a lock that connections take.
  void end_overdue(const Connections& open, Clock::time_point now) const;

 private:
  const std::chrono::seconds limit_;
};

}  // namespace burn::daemon
