// Work that cannot be interrupted (a factorisation by LAPACK, a convolution by oneDNN), done on a thread of its own, so
// that its run can end without it.
//
// Where the run is to end while the work goes on, the work is told by an interrupt of its own and given a moment; if it
// has not ended then, it is left behind: the run ends, the thread computes on, and what the work holds, its memory
// above all, stays in use until the thread is done. Its results are dropped. Work that is left behind takes cores and
// memory that others want, so it is counted: while a session has left one behind, or the process kMaxInProcess of them,
// no further work is begun on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/status.h"

namespace burn::backends {

// What one session has left behind. Shared by its stream and by the threads.
class AbandonedWork {
 public:
  // How long work that was told to end is waited for.
  static constexpr std::chrono::milliseconds kGrace{250};
  // Of the process; more only where several sessions leave theirs at the same time.
  static constexpr std::uint64_t kMaxInProcess = 4;

  // Of this session, now.
  std::uint64_t count() const { return count_.load(std::memory_order_relaxed); }

  // Of the process: now, and since it began.
  static std::uint64_t count_in_process();
  static std::uint64_t total_in_process();
  // Until none is left in the process: before the objects go that libraries compute with.
  static void wait_for_all();

 private:
  friend class DetachedWork;
  std::atomic<std::uint64_t> count_ = 0;
};

// While it lives, what this thread has done apart keeps `kept`, too, for as long as it computes: what pays for the
// memory of a run, which may be longer than the run.
class KeptByRun {
 public:
  explicit KeptByRun(std::shared_ptr<const void> kept) : outer_(std::exchange(current_, std::move(kept))) {}
  ~KeptByRun() { current_ = std::move(outer_); }
  KeptByRun(const KeptByRun&) = delete;
  KeptByRun& operator=(const KeptByRun&) = delete;

  static const std::shared_ptr<const void>& current() { return current_; }

 private:
  static inline thread_local std::shared_ptr<const void> current_;
  std::shared_ptr<const void> outer_;
};

// Calls `work` on a thread of its own, in a run of InterruptScope::current(), and waits for it; on this thread where
// there is no run that could end, or no thread to be had. What `work` throws is thrown here, and what it returns is
// returned. Throws Interrupted when the run is to end, whether or not the work has ended: `work` therefore owns all
// that it uses. Errors besides: RESOURCE_EXHAUSTED, and nothing is begun, while too many are left behind.
Status run_detached(const std::shared_ptr<AbandonedWork>& session, std::function<Status()> work);

}  // namespace burn::backends
