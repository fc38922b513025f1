#include "daemon/handshake_timer.h"

namespace burn::daemon {

void HandshakeTimer::end_overdue(const Connections& open, Clock::time_point now) const {
  for (const auto& connection : open) {
    if (connection->is_welcome() || connection->since() >= now - limit_) continue;
    connection->end({StatusCode::deadline_exceeded, "there was no hello"});
  }
}

}  // namespace burn::daemon
