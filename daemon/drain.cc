#include "daemon/drain.h"

#include <algorithm>
#include <thread>

namespace burn::daemon {
namespace {

constexpr auto kPollPeriod = std::chrono::milliseconds{2};

}  // namespace

void Drain::wait_for_notified(const ConnectionAcceptor& acceptor, const net::Leases& leases) const {
  constexpr auto kNoticePeriod = std::chrono::milliseconds{10};
  while (Clock::now() < end_) {
    const auto open = acceptor.open();
    for (const auto& connection : open) connection->announce_end(end_);
    const bool is_any_left = std::ranges::any_of(open, [](const auto& one) { return one->takes_notices(); });
    if (!is_any_left && !leases.have_lost_with_notices()) return;
    std::this_thread::sleep_for(kNoticePeriod);
  }
}

bool Drain::wait_for_answers(const Connections& connections) const {
  for (const auto& connection : connections) connection->drain();
  for (const auto& connection : connections) {
    while (!connection->is_idle()) {
      if (Clock::now() >= end_) return false;
      std::this_thread::sleep_for(kPollPeriod);
    }
  }
  return true;
}

void Drain::close(const Connections& connections, const Status& why) {
  for (const auto& connection : connections) connection->end(why);
}

}  // namespace burn::daemon
