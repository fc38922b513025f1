#include "backends/detached_work.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "backends/interrupt.h"
#include "base/fork.h"
#include "base/thread.h"
#include "base/time_slice.h"

namespace burn::backends {
namespace {

// The abandoned work of all sessions of this process; after fork() the child has none of these threads.
struct InProcess {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t count = 0, total = 0;

  static InProcess& instance() {
    static auto& instances = *new OnePerProcess<InProcess>;
    return instances.get();
  }
};

}  // namespace

// One call, shared by the new thread and the thread that waits for it.
class DetachedWork {
 public:
  DetachedWork(std::shared_ptr<AbandonedWork> session, std::function<Status()> work)
      : session_(std::move(session)), kept_(KeepAliveScope::current()), work_(std::move(work)) {}

  static Status may_begin(const AbandonedWork& session) {
    if (session.count() > 0) {
      return resource_exhausted(
          "an earlier run of this session could not be stopped and still computes; another long one has to wait for "
          "it");
    }
    const auto count = AbandonedWork::count_in_process();
    if (count < AbandonedWork::kMaxInProcess) return {};
    return resource_exhausted(fmt::format(
        "{} runs that could not be stopped still compute here; with {} of them no further long one is begun", count,
        AbandonedWork::kMaxInProcess));
  }

  // Runs on the new thread.
  void perform() {
    request_time_slice(TimeSlice::usual);
    {
      const InterruptScope scope(&interrupt_);
      try {
        status_ = work_();
      } catch (...) {
        failure_ = std::current_exception();
      }
    }
    {
      const std::lock_guard lock(mutex_);
      is_done_ = true;
      changed_.notify_all();
      if (!is_left_) return;
    }
    work_ = nullptr;  // first its memory, then the account that it is charged to, then the counts
    kept_ = nullptr;
    session_->count_.fetch_sub(1, std::memory_order_relaxed);
    auto& all = InProcess::instance();
    const std::lock_guard lock(all.mutex);
    --all.count;
    all.changed.notify_all();
  }

  // Runs on the thread of the run. `run`: the run's interrupt; it may be due before the work ends.
  Status wait(const Interrupt& run) {
    constexpr std::chrono::milliseconds kLook{5};
    const auto is_done = [&] { return is_done_; };
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLook, is_done)) {
      if (!run.is_due()) continue;
      interrupt_.request();
      if (changed_.wait_for(lock, AbandonedWork::kGrace, is_done)) break;
      leave();
      throw Interrupted{};
    }
    work_ = nullptr;
    kept_ = nullptr;
    if (failure_) std::rethrow_exception(failure_);
    return status_;
  }

 private:
  // Abandons the work. Requires: mutex_ held.
  void leave() {
    is_left_ = true;
    session_->count_.fetch_add(1, std::memory_order_relaxed);
    auto& all = InProcess::instance();
    const std::lock_guard lock(all.mutex);
    ++all.count;
    ++all.total;
  }

  const std::shared_ptr<AbandonedWork> session_;
  std::shared_ptr<const void> kept_;
  std::function<Status()> work_;
  Interrupt interrupt_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false, is_left_ = false;
  Status status_;
  std::exception_ptr failure_;
};

std::uint64_t AbandonedWork::count_in_process() {
  auto& all = InProcess::instance();
  const std::lock_guard lock(all.mutex);
  return all.count;
}

std::uint64_t AbandonedWork::total_in_process() {
  auto& all = InProcess::instance();
  const std::lock_guard lock(all.mutex);
  return all.total;
}

void AbandonedWork::wait_for_all() {
  auto& all = InProcess::instance();
  std::unique_lock lock(all.mutex);
  all.changed.wait(lock, [&] { return all.count == 0; });
}

Status run_detached(const std::shared_ptr<AbandonedWork>& session, std::function<Status()> work) {
  const auto* run = InterruptScope::current();
  if (!run || !session) return work();
  BURN_RETURN_IF_ERROR(DetachedWork::may_begin(*session));
  const auto call = std::make_shared<DetachedWork>(session, work);
  try {
    start_thread("burn-apart", [call] { call->perform(); }).detach();
  } catch (const std::system_error&) {  // no further thread can be started
    return work();
  }
  work = nullptr;  // owned by the thread from now on
  return call->wait(*run);
}

}  // namespace burn::backends
