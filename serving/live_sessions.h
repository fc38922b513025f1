// The sessions whose executors run, so that these stop before the process does.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <thread>

namespace burn::serving {

// A session as the end of the process stops it: by the thread that ends it.
class LiveSession {
 public:
  virtual ~LiveSession() = default;
  // Waits for the call that is being executed. Of those that follow, only what this thread calls is executed, and what
  // was called before that; all of them after two seconds, as a destructor may be waiting for another thread.
  virtual void pause() = 0;
  // Ends the session without waiting, but other threads get no error: what they call is forgotten, and what they ask,
  // or have asked, is answered ten seconds later. By then the process has ended, which an exception thrown there would
  // abort.
  virtual void begin_stop() = 0;
  virtual void stop() = 0;  // begin_stop() once more, and waits until nothing is executed
};

// When a program ends, static objects go one by one, among them those that the libraries of kernels made when they were
// first used. Devices at namespace scope, devices that are never dropped, and devices whose last reader has left still
// have a thread then. Before the first object goes, what these threads execute is awaited, with what runs have left
// behind (wait_at_end()), and no more of it begun, but what a destructor asks for. When those objects go that are as
// old as the first session, which devices at namespace scope are not, what is left is stopped. Threads that nothing
// waits for, and that compute still, are held in their calls from the first moment on, for as long as the process may
// take to end: an error thrown there would abort it. Thread-safe.
class LiveSessions {
 public:
  static LiveSessions& instance();

  // Makes the sessions pause when this thread ends, if it is the main thread, which ends before any static object does.
  static void pause_at_end();

  // What to wait for when sessions have paused or stopped, beside them: called by the thread that ends the process.
  // To be set before the first session is added.
  static void wait_at_end(void (*wait)()) { last_wait_ = wait; }

  void add(LiveSession& session);
  // Waits while they are being stopped. To be called before the session is destroyed.
  void remove(LiveSession& session);

 private:
  void pause_all();
  void stop_all();
  static void wait_for_the_rest() {
    if (const auto wait = last_wait_.load()) wait();
  }

  static inline std::atomic<void (*)()> last_wait_ = nullptr;
  std::mutex mutex_;
  std::set<LiveSession*> all_;
  std::thread::id stopped_by_;  // the thread that ends the process; none: it goes on
};

}  // namespace burn::serving
