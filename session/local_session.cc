#include "session/local_session.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/thread.h"
#include "base/time_slice.h"
#include "proto/message.h"
#include "session/call_queue.h"
#include "session/callback_scope.h"
#include "session/guarded.h"
#include "session/live_sessions.h"
#include "session/perform_call.h"
#include "session/session_info.h"
#include "session/state.h"

namespace burn::session {
namespace {

// Among so many calls that wait, programs are prepared; further ones would only take threads from other sessions.
constexpr std::size_t kPreparedCalls = 64;
// Of calls that wait, how many are looked through for runs whose plans have to be compiled again.
constexpr std::size_t kRunsAhead = 8;
// Without calls, after which progress is reported.
constexpr std::chrono::microseconds kQuiet{200};
// How long the process may take to end: after its main thread, and once sessions are stopped.
constexpr std::chrono::seconds kAfterMain{2}, kAfterStop{10};

class QueuedSession final : public LocalSession {
 public:
  QueuedSession(std::shared_ptr<Worker> worker, const Quotas& quotas, Execution execution)
      : worker_(std::move(worker)),
        execution_(execution),
        info_(describe_session(*worker_, quotas)),
        budget_(std::make_shared<Budget>(std::min(quotas.tensor_bytes, worker_->backend().limits().memory_bytes),
                                         &worker_->backend())),
        stream_(worker_->backend(), signal_, this),
        state_(worker_, quotas, budget_, stream_),
        progress_batch_(std::clamp<std::uint64_t>(quotas.in_flight / 2, 1, kProgressBatch)),
        calls_(quotas, *budget_) {
    if (!stream_.status().ok()) {
      end_ = stream_.status().with_context(info_.devices.front());
      closing_ = true;
    }
    worker_->count_session(+1);
    try {
      executor_ = start_thread("burn-session", [this] { execute(); });
    } catch (const std::system_error& failure) {  // the system has no more threads: health() says so
      end_ = resource_exhausted(fmt::format("no thread to be had for the session: {}", failure.what()));
      closing_ = true;
    }
    executor_id_ = executor_.get_id();
    LiveSessions::instance().add(*this);
  }
  ~QueuedSession() override {
    LiveSessions::instance().remove(*this);
    QueuedSession::close();
    budget_->leave_backend();  // what is still being read keeps the budget
    worker_->count_session(-1);
  }

  const proto::SessionInfo& info() const override { return info_; }
  Status health() const override {
    const std::lock_guard lock{mutex_};
    return closing_ && !is_answered_late() ? end_ : Status{};
  }

  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::vector<proto::ProgramId> forget) override {
    return enqueue(DefineCall{id, std::move(program), std::move(forget)});
  }
  Status define_encoded(proto::ProgramId id, SharedBytes program, std::vector<proto::ProgramId> forget) override {
    return enqueue(EncodedCall{id, std::move(program), std::move(forget)});
  }
  Status define_invalid(proto::ProgramId id, std::size_t output_count, Status why,
                        std::vector<proto::ProgramId> forget) override {
    return enqueue(InvalidCall{id, output_count, std::move(why), std::move(forget)});
  }
  Status run(proto::Run run) override { return enqueue(std::move(run)); }
  Status write(proto::TensorId id, proto::HostTensor tensor) override {
    return enqueue(WriteCall{id, std::move(tensor)});
  }
  Status release(std::vector<proto::TensorId> ids) override { return enqueue(ReleaseCall{std::move(ids)}); }

  void read(proto::TensorId id, ReadCallback done) override {
    Call call{ReadCall{id, std::move(done)}};
    if (const auto status = try_enqueue(call); !status.ok()) std::get<ReadCall>(call).done(status);
  }
  void sync(SyncCallback done) override {
    Call call{SyncCall{std::move(done)}};
    if (const auto status = try_enqueue(call); !status.ok()) std::get<SyncCall>(call).done(status);
  }

  Result<std::unique_ptr<Upload>> begin_upload(proto::TensorId id, const ir::TensorType& type) override {
    UploadCall call{id, type, nullptr, {}, {}};
    call.failed = receive(call);
    auto upload = call.upload;
    const auto failed = call.failed;
    BURN_RETURN_IF_ERROR(enqueue(std::move(call)));
    BURN_RETURN_IF_ERROR(failed);
    return std::unique_ptr<Upload>{std::make_unique<UploadHandle>(std::move(upload))};
  }

  void on_progress(std::function<void(std::uint64_t)> callback) override {
    const std::lock_guard lock{mutex_};
    progress_ = std::move(callback);
  }

  Stats stats() const override { return {programs_, runs_, budget_->in_use(), budget_->peak(), budget_->host()}; }

  void pause() override {
    if (execution_ == Execution::by_quick_callers) return;  // a server's, which may be waiting for its client
    std::unique_lock lock{mutex_};
    paused_ = true;
    may_begin_ = 0;
    paused_until_ = std::chrono::steady_clock::now() + kAfterMain;
    ending_thread_ = std::this_thread::get_id();
    room_.wait(lock, [&] { return !executing_; });
  }
  bool is_on_own_thread() const override {
    return std::this_thread::get_id() == executor_id_ || CallbackScope::is_inside(this);
  }
  void begin_close() override {
    {
      const std::lock_guard lock{mutex_};
      closing_ = true;
    }
    work_.notify_all();
    room_.notify_all();
    signal_->close();
    stream_.interrupt();
  }
  void close() override {
    {
      const std::lock_guard lock{mutex_};
      answers_late_ = false;
    }
    begin_close();  // also notifies those that wait for it
    const std::lock_guard lock{join_mutex_};
    if (executor_.joinable()) executor_.join();
  }
  void begin_stop() override {
    {
      const std::lock_guard lock{mutex_};
      if (closing_) return;
      answers_late_ = true;
      ending_thread_ = std::this_thread::get_id();
    }
    begin_close();
  }
  void stop() override {
    begin_stop();
    std::unique_lock lock{mutex_};
    room_.wait(lock, [&] { return has_stopped_ || executor_id_ == std::thread::id{}; });
  }

 private:
  Status enqueue(Call call) { return try_enqueue(call); }

  // Takes the call unless the session is closed, or has no memory for it. Waits for room, but not in a callback: it may
  // be what makes the room.
  Status try_enqueue(Call& call) {
    LiveSessions::pause_at_end();
    const std::uint64_t bytes = written_by(call);
    std::unique_lock lock{mutex_};
    if (!is_on_own_thread()) {
      room_.wait(lock, [&] { return closing_ || calls_.has_room(bytes); });
    }
    if (closing_ && is_answered_late()) {
      if (is_question(call)) late_.push_back(std::move(call));
      return {};
    }
    if (closing_) return end_;
    if (may_execute_here() && !stream_.is_behind() && is_quick(call, state_)) {
      execute(call, lock);
      if (calls_.empty()) {
        report(lock);
      } else {
        work_.notify_one();  // others came meanwhile and left it to us
      }
      return {};
    }
    if (auto status = calls_.admit(call); !status.ok()) {
      const auto* write = std::get_if<WriteCall>(&call);
      if (!write) return status;
      call = UploadCall{write->id, write->tensor.type, nullptr, {}, std::move(status)};  // it fails alone
      calls_.admit_small(call);
    }
    if ((executing_ || !calls_.empty()) && calls_.size() < kPreparedCalls) prepare_ahead(call, state_);
    calls_.push(std::move(call));
    if (paused_ && ending_thread_ == std::this_thread::get_id()) may_begin_ = calls_.size();
    if (calls_.size() == 1 || paused_) work_.notify_one();
    return {};
  }

  // Requires: the lock. Whether another thread than this one ends the process, and has stopped the session.
  bool is_answered_late() const { return answers_late_ && ending_thread_ != std::this_thread::get_id(); }
  static bool is_question(const Call& call) {
    return std::holds_alternative<ReadCall>(call) || std::holds_alternative<SyncCall>(call);
  }

  // Requires: the lock. Then nobody but the caller touches what is the executor's.
  bool may_execute_here() const {
    return execution_ == Execution::by_quick_callers && !executing_ && calls_.empty() && !is_on_own_thread();
  }

  // Room for the tensor, in the budget and in memory.
  Status receive(UploadCall& call) {
    const auto bytes = call.type.num_bytes();
    if (bytes > info_.max_tensor_bytes) {
      return resource_exhausted(fmt::format("tensor {}: {} has {} bytes, at most {} may be", call.id,
                                            ir::to_string(call.type), bytes, info_.max_tensor_bytes));
    }
    BURN_TRY(call.share, budget_->take(bytes));
    BURN_TRY(call.upload, StagedUpload::create(signal_, worker_->backend(), bytes));
    return {};
  }

  void execute() {
    auto slice = TimeSlice::usual;  // the thread that started this one may have another
    request_time_slice(slice);
    std::unique_lock lock{mutex_};
    while (true) {
      if (is_quiet(lock)) report(lock);
      await_call(lock);
      if (closing_) break;
      if (may_begin_ > 0) --may_begin_;
      bool makes_room = false;
      auto call = calls_.pop(&makes_room);
      if (makes_room) room_.notify_all();
      calls_.look_ahead(kRunsAhead, [&](proto::ProgramId id) { state_.prepare_run(id); });
      execute(call, lock);
      // Who has little to do each time goes before whoever computes for long.
      if (const auto fitting = state_.ran_long() ? TimeSlice::usual : TimeSlice::brief; fitting != slice)
        request_time_slice(slice = fitting);
    }
    const auto rest = calls_.clear();
    lock.unlock();
    stream_.close();  // these answers come first
    lock.lock();
    has_stopped_ = true;
    room_.notify_all();
    room_.wait_for(lock, kAfterStop, [&] { return !answers_late_; });
    answers_late_ = false;
    const auto late = std::move(late_);
    lock.unlock();
    for (const auto& call : rest) refuse(call);
    for (const auto& call : late) refuse(call);
    state_.clear();
  }

  void refuse(const Call& call) const {
    if (const auto* read = std::get_if<ReadCall>(&call)) read->done(end_);
    if (const auto* sync = std::get_if<SyncCall>(&call)) sync->done(end_);
  }

  // One to execute, or the end.
  void await_call(std::unique_lock<std::mutex>& lock) {
    while (executing_ || !(closing_ || (!calls_.empty() && (!paused_ || may_begin_ > 0)))) {
      if (!paused_ || calls_.empty())
        work_.wait(lock);
      else if (work_.wait_until(lock, paused_until_) == std::cv_status::timeout)
        paused_ = false;
    }
  }

  // One at a time, whoever does it.
  void execute(Call& call, std::unique_lock<std::mutex>& lock) {
    executing_ = true;
    lock.unlock();
    auto broken = performed([&] { perform(call); });
    { const Call done = std::move(call); }  // what it holds is freed outside the lock
    lock.lock();
    if (!broken.ok()) break_off(broken);
    ++executed_;
    if (executed_ - reported_ >= progress_batch_) report_now(lock);
    executing_ = false;
    if (closing_) work_.notify_one();
    if (paused_) room_.notify_all();
  }

  // Nothing to do, and for a while: a client that goes on at once is told with the next calls, as to tell it of each
  // would take a tenth of a small step's time.
  bool is_quiet(std::unique_lock<std::mutex>& lock) {
    if (!progress_ || reported_ == executed_) return false;
    work_.wait_for(lock, kQuiet, [&] { return closing_ || !calls_.empty(); });
    return calls_.empty() && !executing_;
  }

  void report(std::unique_lock<std::mutex>& lock) {
    if (executing_) return;
    executing_ = true;  // reports come one after the other, too
    report_now(lock);
    executing_ = false;
    if (closing_ || !calls_.empty()) work_.notify_one();
  }

  void report_now(std::unique_lock<std::mutex>& lock) {
    if (!progress_ || reported_ == executed_) return;
    reported_ = executed_;
    const auto progress = progress_;
    const auto executed = executed_;
    lock.unlock();
    auto broken = performed([&] { progress(executed); });
    lock.lock();
    if (!broken.ok()) break_off(broken);
  }

  // No exception leaves a thread of the worker: what the calls do not take for their own failure, for want of memory
  // to say so, ends the session and nobody else.
  template <typename Body>
  static Status performed(const Body& body) {
    return guarded([&]() -> Status {
      body();
      return {};
    });
  }
  // Requires: the lock.
  void break_off(const Status& why) {
    if (closing_) return;
    end_ = why.with_context("the session has ended");
    closing_ = true;
    work_.notify_all();
    room_.notify_all();
  }

  void perform(Call& call) {
    if (std::holds_alternative<DefineCall>(call) || std::holds_alternative<EncodedCall>(call)) ++programs_;
    if (std::holds_alternative<proto::Run>(call)) ++runs_;
    stream_.wait_for_device();
    perform_call(call, state_, stream_);
  }

  const std::shared_ptr<Worker> worker_;
  const Execution execution_;
  const proto::SessionInfo info_;
  const std::shared_ptr<Budget> budget_;
  const std::shared_ptr<SessionSignal> signal_ = std::make_shared<SessionSignal>();
  Status end_ = cancelled("the session is closed");  // what calls are told then

  // Of whoever executes.
  SessionStream stream_;
  SessionState state_;
  std::uint64_t executed_ = 0, reported_ = 0;
  const std::uint64_t progress_batch_;

  std::atomic<std::uint64_t> programs_ = 0, runs_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable work_, room_;
  CallQueue calls_;
  std::function<void(std::uint64_t)> progress_;
  bool executing_ = false;  // somebody is
  bool paused_ = false;     // only the next may_begin_ calls are to begin
  bool closing_ = false;
  // At the end of the process.
  std::size_t may_begin_ = 0;
  std::chrono::steady_clock::time_point paused_until_{};
  bool answers_late_ = false;      // closing
  bool has_stopped_ = false;       // the executor executes no more
  std::vector<Call> late_;         // questions of other threads since
  std::thread::id ending_thread_;  // none: it goes on

  std::mutex join_mutex_;
  std::thread executor_;
  std::thread::id executor_id_;  // set before anybody knows the session
};

}  // namespace

std::unique_ptr<LocalSession> make_local_session(std::shared_ptr<Worker> worker, const Quotas& quotas,
                                                 Execution execution) {
  return std::make_unique<QueuedSession>(std::move(worker), quotas, execution);
}

}  // namespace burn::session
