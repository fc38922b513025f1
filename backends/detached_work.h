// Runs work that cannot be interrupted (a factorisation by LAPACK, a convolution by oneDNN) on a thread of its own, so
// that its run can end before the work does.
//
// If the run has to end while the work goes on, the work's own interrupt is requested and the run waits for kGrace. If
// the work has not ended then, it is abandoned: the run ends, the thread computes on, and what the work holds, its
// memory above all, stays in use until the thread is done. Its results are dropped. Abandoned work takes cores and
// memory from others, so it is counted: while a session has abandoned one piece of work, or the process kMaxInProcess
// of them, no further work is begun on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/status.h"

namespace burn::backends {

// The work that one session has abandoned. Shared by its stream and by the threads.
class AbandonedWork {
 public:
  // How long a run waits for its work to end after requesting the work's interrupt.
  static constexpr std::chrono::milliseconds kGrace{250};
  // Limit for the process; exceeded only if several sessions abandon work at the same time.
  static constexpr std::uint64_t kMaxInProcess = 4;

  // Work of this session that is still running.
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

  // Work of the process: still running, and since it began.
  static std::uint64_t count_in_process();
  static std::uint64_t total_in_process();
  // Waits until no abandoned work runs in the process: to be called before objects that libraries compute with are
  // destroyed.
  static void wait_for_all();

 private:
  friend class DetachedWork;
  std::atomic<std::uint64_t> count_ = 0;
};

// While it lives, work that this thread runs detached also owns `kept` for as long as it computes: the object that
// accounts for a run's memory, which abandoned work uses longer than the run.
class KeepAliveScope {
 public:
  explicit KeepAliveScope(std::shared_ptr<const void> kept) : outer_(std::exchange(current_, std::move(kept))) {}
  ~KeepAliveScope() { current_ = std::move(outer_); }
  KeepAliveScope(const KeepAliveScope&) = delete;
  KeepAliveScope& operator=(const KeepAliveScope&) = delete;

  static const std::shared_ptr<const void>& current() { return current_; }

 private:
  static inline thread_local std::shared_ptr<const void> current_;
  std::shared_ptr<const void> outer_;
};

// Calls `work` on a new thread, within the run of InterruptScope::current(), and waits for it; on the calling thread if
// there is no run that could end, no `session`, or no thread can be started. What `work` throws or returns is passed
// on. Throws Interrupted when the run has to end, whether or not the work has ended: `work` must therefore own all that
// it uses. Errors besides: RESOURCE_EXHAUSTED while too much work is abandoned; nothing is begun.
Status run_detached(const std::shared_ptr<AbandonedWork>& session, std::function<Status()> work);

}  // namespace burn::backends
