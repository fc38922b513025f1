// The sessions whose executors run, so that these stop before the process does.
#pragma once

#include <mutex>
#include <set>
#include <thread>

#include "session/local_session.h"

namespace burn::session {

// When a program ends, static objects go one by one, among them those that the libraries of kernels made when they were
// first used. Devices at namespace scope, those that nobody drops, and those whose last reader has left still have a
// thread then. Before the first object goes, what these threads execute is awaited, with what runs have left behind
// (backends/apart.h), and no more of it begun, but what a destructor asks for. When those objects go that are as old as
// the first session, which devices at namespace scope are not, what is left is stopped. Threads that nothing waits for,
// and that compute still, are held in their calls from the first moment on, for as long as the process may take to end:
// an error thrown there would abort it. Thread-safe.
class LiveSessions {
 public:
  static LiveSessions& instance();

  // Makes the sessions pause when this thread ends, if it is the main thread, which ends before any static object does.
  static void pause_at_end();

  void add(LocalSession& session);
  // Waits while they are being stopped. To be called before the session is destroyed.
  void remove(LocalSession& session);

 private:
  void pause_all();
  void stop_all();

  std::mutex mutex_;
  std::set<LocalSession*> all_;
  std::thread::id stopped_by_;  // the thread that ends the process; none: it goes on
};

}  // namespace burn::session
