// The sessions with running executors, which are stopped before the process ends.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace burn::serving {

// A session that can be stopped at the end of the process, by the thread that ends it.
class LiveSession {
 public:
  virtual ~LiveSession() = default;
  // Waits for the call that is being executed. After that only calls of this thread, and those made before them, are
  // executed; after two seconds all calls, as a destructor may be waiting for another thread.
  virtual void pause() = 0;
  // Ends the session without waiting, but without errors for other threads: their calls without an answer are dropped,
  // and all others are answered ten seconds later. By then the process has ended; an exception thrown there would abort
  // it.
  virtual void begin_stop() = 0;
  virtual void stop() = 0;  // calls begin_stop(), and waits until no call is executed
};

// When a program ends, static objects are destroyed one by one, among them those that the kernel libraries made at
// their first use. Devices at namespace scope, devices that are never destroyed, and devices whose last reader has
// ended still have a thread then. Before the first object is destroyed, the calls of these threads are awaited, with
// work that runs have left behind (wait_at_end()), and no more calls begin, except those of destructors. When the
// static objects that are as old as the first session are destroyed, which devices at namespace scope are not, the
// remaining sessions are stopped. Other threads that still use a session are blocked in their calls from the pause on,
// for as long as the process may take to end: an error thrown there would abort it. Thread-safe.
class LiveSessions {
 public:
  static LiveSessions& instance();

  // Makes the sessions pause when this thread ends, if it is the main thread: its thread-local objects are destroyed
  // before static ones.
  static void pause_at_end();

  // Sets a function that waits for work other than sessions. Called by the thread that ends the process, when sessions
  // have paused and when they have stopped. Set it before the first session is added.
  static void wait_at_end(void (*wait)()) { last_wait_ = wait; }

  void add(LiveSession& session);
  // Waits while sessions are being stopped. Call before the session is destroyed.
  void remove(LiveSession& session);

 private:
  void pause_all();
  void stop_all();
  static void wait_for_other_work() {
    if (const auto wait = last_wait_.load()) wait();
  }

  static inline std::atomic<void (*)()> last_wait_ = nullptr;
  std::mutex mutex_;
  std::set<LiveSession*> all_;
  std::thread::id stopped_by_;  // the thread that ends the process; none: it is not ending
};

}  // namespace burn::serving
