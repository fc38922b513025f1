#include "daemon/drain.h"

#include <thread>

namespace burn::daemon {

bool Drain::wait_for_answers(std::chrono::milliseconds timeout) const {
  constexpr auto kPollPeriod = std::chrono::milliseconds{2};
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (const auto& connection : connections_) connection->drain();
  for (const auto& connection : connections_) {
    while (!connection->is_idle()) {
      if (std::chrono::steady_clock::now() >= deadline) return false;
      std::this_thread::sleep_for(kPollPeriod);
    }
  }
  return true;
}

void Drain::close(const Status& why) const {
  for (const auto& connection : connections_) connection->end(why);
}

}  // namespace burn::daemon
