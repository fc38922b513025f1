// Looks after conversations whose server is there and does not answer. One thread for all of the process, which sleeps
// nearly always.
#pragma once

#include <chrono>
#include <memory>

namespace burn::net {

class Watched {
 public:
  virtual ~Watched() = default;
  // Called about every interval, from the watchdog's thread.
  virtual void look(std::chrono::steady_clock::time_point now) = 0;
};

// Until it is gone. Thread-safe.
void watch(std::weak_ptr<Watched> watched, std::chrono::milliseconds interval);

}  // namespace burn::net
