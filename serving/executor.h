// Executes a session's calls on a thread, one at a time and in order, with a queue of waiting calls.
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
  // `performer` must outlive it. `callers_execute`: a caller executes its call itself if no call waits and the
  // performer considers it quick.
  Executor(CallPerformer& performer, const Quotas& quotas, bool callers_execute);
  ~Executor() { close(); }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Queues the call, moving from it, unless the session is closed or has no memory for it. Blocks while the queue is
  // full, except in a callback, as the queue may be waiting for it to return.
  Status enqueue(Call& call);
  // Ok, or the error of enqueue() after the session has ended.
  Status health() const;
  std::size_t queued() const;
  // Sets the callback for the number of executed calls. Called on the executing thread.
  void on_progress(std::function<void(std::uint64_t)> callback);
  // Whether this thread executes the session's calls, or is in a callback of one.
  bool is_on_own_thread() const;

  // End the session: begin_close() without waiting, close() waits.
  void begin_close();
  void close();
  // See LiveSession.
  void pause();
  void begin_stop();
  void stop();

 private:
  using Lock = std::unique_lock<std::mutex>;  // of mutex_

  void execute_all();
  // Waits for a call to execute or for the end.
  void await_call(Lock& lock);
  // Executes one call at a time, on this session's thread or a caller's.
  void execute(Call& call, Lock& lock);
  void end(Lock& lock);
  void refuse(const Call& call) const;
  // Waits briefly, and returns whether there is still no call. A busy client is told of its progress with later calls:
  // reporting each call would take a tenth of a small step's time.
  bool is_quiet(Lock& lock);
  void report(Lock& lock);
  void report_now(Lock& lock);

  // These require the lock.
  // Whether the thread that ends the process has stopped the session, and this is another thread.
  bool is_answered_late() const { return answers_late_ && ending_thread_ != std::this_thread::get_id(); }
  // Whether the caller may execute its call: no other thread uses the performer then.
  bool may_execute_here() const { return callers_execute_ && !executing_ && calls_.empty() && !is_on_own_thread(); }
  void fail_session(const Status& why);

  CallPerformer& performer_;
  const bool callers_execute_;
  Status end_ = cancelled("the session is closed");  // the error of calls after the end

  // Used by the executing thread only.
  std::uint64_t executed_ = 0, reported_ = 0;
  const std::uint64_t progress_batch_;

  mutable std::mutex mutex_;
  std::condition_variable work_, room_;
  CallQueue calls_;
  std::function<void(std::uint64_t)> progress_;
  bool executing_ = false;  // a thread performs a call or reports progress
  bool paused_ = false;     // only may_begin_ more calls may begin
  bool closing_ = false;
  // For the end of the process (LiveSession).
  std::size_t may_begin_ = 0;
  std::chrono::steady_clock::time_point paused_until_{};
  bool answers_late_ = false;      // closing by begin_stop()
  bool has_stopped_ = false;       // the thread executes no more calls
  std::vector<Call> late_;         // calls with answers, made by other threads since
  std::thread::id ending_thread_;  // ends the process; none: it is not ending

  std::mutex join_mutex_;
  std::thread thread_;
  std::thread::id thread_id_;  // set before other threads have the session
};

}  // namespace burn::serving
