// Calls whose client has not said yet who he is or what he asks for.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"

namespace burn::net {

class Stranger {
 public:
  // Tells him why, and ends the call. Thread-safe.
  virtual void turn_away(const Status& why) = 0;
  virtual const std::string& peer() const = 0;  // constant from the time he is added

 protected:
  ~Stranger() = default;
};

// Thread-safe.
class Strangers {
 public:
  using Clock = std::chrono::steady_clock;
  // One of them until it is dropped. Strangers outlive it.
  using Stay = std::shared_ptr<const void>;

  // `until`: he is turned away then.
  Stay add(std::weak_ptr<Stranger> stranger, Clock::time_point until = Clock::time_point::max());
  // All of this peer ("127.0.0.1:40312", which names his connection).
  void turn_away(const std::string& peer, const Status& why);
  // Those whose time is over.
  void tick();

 private:
  struct Entry {
    std::weak_ptr<Stranger> stranger;
    Clock::time_point until;
  };

  void remove(std::list<Entry>::iterator entry);
  std::vector<std::shared_ptr<Stranger>> with_time_until(Clock::time_point latest);

  std::mutex mutex_;
  std::list<Entry> all_;
};

}  // namespace burn::net
