// The list of unauthenticated calls: their client has sent neither an accepted token nor a health request.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"

namespace burn::net {

class UnauthenticatedCall {
 public:
  // Tells the client why, and ends the call. Thread-safe.
  virtual void refuse(const Status& why) = 0;
  virtual const std::string& peer() const = 0;  // does not change after the call is added

 protected:
  ~UnauthenticatedCall() = default;
};

// Thread-safe.
class UnauthenticatedCalls {
 public:
  using Clock = std::chrono::steady_clock;
  // The call stays in the list until this is destroyed. The list must outlive it.
  using Registration = std::shared_ptr<const void>;

  // `until`: when the call is refused.
  Registration add(std::weak_ptr<UnauthenticatedCall> call, Clock::time_point until = Clock::time_point::max());
  // Refuses all calls of this peer ("127.0.0.1:40312", which names its connection).
  void refuse(const std::string& peer, const Status& why);
  // Refuses the calls whose time is over.
  void tick();

 private:
  struct Entry {
    std::weak_ptr<UnauthenticatedCall> call;
    Clock::time_point until;
  };

  void remove(std::list<Entry>::iterator entry);
  std::vector<std::shared_ptr<UnauthenticatedCall>> with_time_until(Clock::time_point latest);

  std::mutex mutex_;
  std::list<Entry> all_;
};

}  // namespace burn::net
