#include "serving/executor.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/thread.h"
#include "base/time_slice.h"
#include "proto/served_session.h"
#include "serving/call_performer.h"
#include "serving/callback_scope.h"
#include "serving/guarded.h"
#include "serving/live_sessions.h"

namespace burn::serving {
namespace {

// Programs are prepared only for this many waiting calls; more would only take threads from other sessions.
constexpr std::size_t kPreparedCalls = 64;
// Number of waiting calls that are searched for runs whose plans must be compiled again.
constexpr std::size_t kRunsAhead = 8;
// Progress is reported after this time without a call.
constexpr std::chrono::microseconds kQuiet{200};
// Time that the process may take to end: after its main thread, and after sessions are stopped.
constexpr std::chrono::seconds kAfterMain{2}, kAfterStop{10};

bool is_question(const Call& call) {
  return std::visit([](const auto& kind) { return requires { kind.done; }; }, call);
}

// No exception leaves a thread of the worker: one that a call cannot record as its own failure, for lack of memory,
// ends this session and no other.
template <typename Body>
Status performed(const Body& body) {
  return guarded([&]() -> Status {
    body();
    return {};
  });
}

}  // namespace

Executor::Executor(CallPerformer& performer, const Quotas& quotas, bool callers_execute)
    : performer_(performer),
      callers_execute_(callers_execute),
      progress_batch_(std::clamp<std::uint64_t>(quotas.in_flight / 2, 1, proto::ServedSession::kProgressBatch)),
      calls_(quotas, performer.budget()) {
  if (auto health = performer_.health(); !health.ok()) {
    end_ = std::move(health);
    closing_ = true;
  }
  try {
    thread_ = start_thread("burn-session", [this] { execute_all(); });
  } catch (const std::system_error& failure) {  // the system has no more threads: health() says so
    end_ = resource_exhausted(fmt::format("no thread to be had for the session: {}", failure.what()));
    closing_ = true;
  }
  thread_id_ = thread_.get_id();
}

// --- for other threads ---

Status Executor::health() const {
  const std::lock_guard lock{mutex_};
  return closing_ && !is_answered_late() ? end_ : Status{};
}

bool Executor::is_on_own_thread() const {
  return std::this_thread::get_id() == thread_id_ || CallbackScope::is_inside(&performer_);
}

std::size_t Executor::queued() const {
  const std::lock_guard lock{mutex_};
  return calls_.size();
}

void Executor::on_progress(std::function<void(std::uint64_t)> callback) {
  const std::lock_guard lock{mutex_};
  progress_ = std::move(callback);
}

void Executor::pause() {
  if (callers_execute_) return;  // a server's session, which may be waiting for its client
  std::unique_lock lock{mutex_};
  paused_ = true;
  may_begin_ = 0;
  paused_until_ = std::chrono::steady_clock::now() + kAfterMain;
  ending_thread_ = std::this_thread::get_id();
  room_.wait(lock, [&] { return !executing_; });
}

void Executor::begin_close() {
  {
    const std::lock_guard lock{mutex_};
    closing_ = true;
  }
  work_.notify_all();
  room_.notify_all();
  performer_.interrupt();
}

void Executor::close() {
  {
    const std::lock_guard lock{mutex_};
    answers_late_ = false;
  }
  begin_close();  // also notifies threads that wait for answers_late_
  const std::lock_guard lock{join_mutex_};
  if (thread_.joinable()) thread_.join();
}

void Executor::begin_stop() {
  {
    const std::lock_guard lock{mutex_};
    if (closing_) return;
    answers_late_ = true;
    ending_thread_ = std::this_thread::get_id();
  }
  begin_close();
}

void Executor::stop() {
  begin_stop();
  std::unique_lock lock{mutex_};
  room_.wait(lock, [&] { return has_stopped_ || thread_id_ == std::thread::id{}; });
}

Status Executor::enqueue(Call& call) {
  LiveSessions::pause_at_end();
  const std::uint64_t bytes = written_bytes(call);
  std::unique_lock lock{mutex_};
  if (!is_on_own_thread()) {
    room_.wait(lock, [&] { return closing_ || calls_.has_room(bytes); });
  }
  if (closing_ && is_answered_late()) {
    if (is_question(call)) late_.push_back(std::move(call));
    return {};
  }
  if (closing_) return end_;
  if (may_execute_here() && performer_.is_quick(call)) {
    execute(call, lock);
    if (calls_.empty()) {
      report(lock);
    } else {
      work_.notify_one();  // calls queued meanwhile could not begin
    }
    return {};
  }
  if (auto status = calls_.admit(call); !status.ok()) {
    auto* write = std::get_if<WriteCall>(&call);
    if (!write) return status;
    write->fail(std::move(status));
    calls_.admit_small(call);
  }
  if ((executing_ || !calls_.empty()) && calls_.size() < kPreparedCalls) performer_.prepare_ahead(call);
  calls_.push(std::move(call));
  if (paused_ && ending_thread_ == std::this_thread::get_id()) may_begin_ = calls_.size();
  if (calls_.size() == 1 || paused_) work_.notify_one();
  return {};
}

// --- on the thread that executes ---

void Executor::execute_all() {
  auto slice = TimeSlice::usual;  // the thread that started this one may have another slice
  request_time_slice(slice);
  std::unique_lock lock{mutex_};
  while (true) {
    if (is_quiet(lock)) report(lock);
    await_call(lock);
    if (closing_) break;
    if (may_begin_ > 0) --may_begin_;
    bool makes_room = false;
    std::chrono::nanoseconds waited{0};
    auto call = calls_.pop(&makes_room, &waited);
    performer_.set_queue_time(waited);
    if (makes_room) room_.notify_all();
    calls_.look_ahead(kRunsAhead, [&](proto::ProgramId id) { performer_.prepare_run(id); });
    execute(call, lock);
    // Sessions with short runs are scheduled before those that compute for long.
    if (const auto fitting = performer_.ran_long() ? TimeSlice::usual : TimeSlice::brief; fitting != slice)
      request_time_slice(slice = fitting);
  }
  end(lock);
}

// Answers the calls that are no longer executed.
void Executor::end(std::unique_lock<std::mutex>& lock) {
  const auto rest = calls_.clear();
  lock.unlock();
  performer_.finish();  // these answers come first
  lock.lock();
  has_stopped_ = true;
  room_.notify_all();
  room_.wait_for(lock, kAfterStop, [&] { return !answers_late_; });
  answers_late_ = false;
  const auto late = std::move(late_);
  lock.unlock();
  for (const auto& call : rest) refuse(call);
  for (const auto& call : late) refuse(call);
  performer_.clear();
}

void Executor::refuse(const Call& call) const {
  std::visit(
      [&](const auto& kind) {
        if constexpr (requires { kind.done; }) kind.done(end_);
      },
      call);
}

void Executor::await_call(std::unique_lock<std::mutex>& lock) {
  while (executing_ || !(closing_ || (!calls_.empty() && (!paused_ || may_begin_ > 0)))) {
    if (!paused_ || calls_.empty())
      work_.wait(lock);
    else if (work_.wait_until(lock, paused_until_) == std::cv_status::timeout)
      paused_ = false;
  }
}

void Executor::execute(Call& call, std::unique_lock<std::mutex>& lock) {
  executing_ = true;
  lock.unlock();
  auto broken = performed([&] { performer_.perform(call); });
  { const Call done = std::move(call); }  // its memory is freed outside the lock
  lock.lock();
  if (!broken.ok()) fail_session(broken);
  ++executed_;
  if (executed_ - reported_ >= progress_batch_) report_now(lock);
  executing_ = false;
  if (closing_) work_.notify_one();
  if (paused_) room_.notify_all();
}

bool Executor::is_quiet(std::unique_lock<std::mutex>& lock) {
  if (!progress_ || reported_ == executed_) return false;
  work_.wait_for(lock, kQuiet, [&] { return closing_ || !calls_.empty(); });
  return calls_.empty() && !executing_;
}

void Executor::report(std::unique_lock<std::mutex>& lock) {
  if (executing_) return;
  executing_ = true;  // so that reports are not concurrent either
  report_now(lock);
  executing_ = false;
  if (closing_ || !calls_.empty()) work_.notify_one();
}

void Executor::report_now(std::unique_lock<std::mutex>& lock) {
  if (!progress_ || reported_ == executed_) return;
  reported_ = executed_;
  const auto progress = progress_;
  const auto executed = executed_;
  lock.unlock();
  auto broken = performed([&] { progress(executed); });
  lock.lock();
  if (!broken.ok()) fail_session(broken);
}

void Executor::fail_session(const Status& why) {
  if (closing_) return;
  end_ = why.with_context("the session has ended");
  closing_ = true;
  work_.notify_all();
  room_.notify_all();
}

}  // namespace burn::serving
