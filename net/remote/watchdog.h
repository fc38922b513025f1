// Checks conversations for timeouts, such as a server that is reachable and does not answer. One thread for the whole
// process, which sleeps most of the time.
#pragma once

#include <chrono>
#include <memory>

namespace burn::net {

class Watched {
 public:
  virtual ~Watched() = default;
  // Called about once per interval, on the watchdog's thread.
  virtual void check_timeouts(std::chrono::steady_clock::time_point now) = 0;
};

// Has `watched` checked until it is destroyed. Thread-safe.
void watch(std::weak_ptr<Watched> watched, std::chrono::milliseconds interval);

}  // namespace burn::net
