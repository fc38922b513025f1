// The sessions whose executors run, so that these stop before the process does.
#pragma once

#include <mutex>
#include <set>

#include "server/local_session.h"

namespace burn::server {

// When a program ends, static objects go one by one, among them those that kernels compute with. Devices that nobody drops, or
// whose last reader has left, still have a thread then. It is made to stop when those objects go that are as old as the first
// session; younger ones, such as a device at namespace scope, have closed theirs by then. Thread-safe.
class LiveSessions {
 public:
  static LiveSessions& instance();

  void add(LocalSession& session);
  // Waits while they are being stopped. To be called before the session is destroyed.
  void remove(LocalSession& session);

 private:
  void stop_all();

  std::mutex mutex_;
  std::set<LocalSession*> all_;
};

}  // namespace burn::server
