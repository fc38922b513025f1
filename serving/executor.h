// The thread that executes a session's calls, one at a time and in their order, and the calls that wait for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.h"
#include "serving/call_queue.h"
#include "serving/calls.h"
#include "serving/quotas.h"

namespace burn::serving {

class CallPerformer;

// Thread-safe.
class Executor {
 public:
  // `performer` outlives it. `callers_execute`: a caller executes its call itself if nothing waits and the performer
  // finds the call quick.
  Executor(CallPerformer& performer, const Quotas& quotas, bool callers_execute);
  ~Executor() { close(); }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Takes the call, and moves from it, unless the session is closed or has no memory for it. Waits for room, but not in
  // a callback: it may be what makes the room.
  Status enqueue(Call& call);
  // What enqueue() tells of a session that has ended.
  Status health() const;
  std::size_t queued() const;
  // Gets how many calls are executed, from the thread that executes.
  void on_progress(std::function<void(std::uint64_t)> callback);
  // Whether this thread executes the session's calls, or is in a callback of one.
  bool is_on_own_thread() const;

  // Ends it: without waiting, and with it.
  void begin_close();
  void close();
  // As LiveSession has them.
  void pause();
  void begin_stop();
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;  // of mutex_

  void execute_all();
  // Until there is a call to execute, or the end.
  void await_call(Lock& lock);
  // One call at a time, on the thread or on a caller's.
  void execute(Call& call, Lock& lock);
  void end(Lock& lock);
  void refuse(const Call& call) const;
  // Whether nothing has waited for a short while. A client that goes on at once is told of its progress with later
  // calls: telling it of each would take a tenth of a small step's time.
  bool is_quiet(Lock& lock);
  void report(Lock& lock);
  void report_now(Lock& lock);

  // These require the lock.
  // Whether another thread than this one ends the process, and has stopped the session.
  bool is_answered_late() const { return answers_late_ && ending_thread_ != std::this_thread::get_id(); }
  // Then only this thread uses the performer.
  bool may_execute_here() const { return callers_execute_ && !executing_ && calls_.empty() && !is_on_own_thread(); }
  void break_off(const Status& why);

  CallPerformer& performer_;
  const bool callers_execute_;
  Status end_ = cancelled("the session is closed");  // what calls are told then

  // Of the thread that executes.
  std::uint64_t executed_ = 0, reported_ = 0;
  const std::uint64_t progress_batch_;

  mutable std::mutex mutex_;
  std::condition_variable work_, room_;
  CallQueue calls_;
  std::function<void(std::uint64_t)> progress_;
  bool executing_ = false;  // a thread performs a call or reports progress
  bool paused_ = false;     // only the next may_begin_ calls are to begin
  bool closing_ = false;
  // At the end of the process.
  std::size_t may_begin_ = 0;
  std::chrono::steady_clock::time_point paused_until_{};
  bool answers_late_ = false;      // closing
  bool has_stopped_ = false;       // the thread executes no more
  std::vector<Call> late_;         // questions of other threads since
  std::thread::id ending_thread_;  // none: it goes on

  std::mutex join_mutex_;
  std::thread thread_;
  std::thread::id thread_id_;  // set before the session is known to other threads
};

}  // namespace burn::serving
