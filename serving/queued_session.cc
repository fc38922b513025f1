#include "serving/queued_session.h"

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
#include "serving/call_performer.h"
#include "serving/call_queue.h"
#include "serving/callback_scope.h"
#include "serving/guarded.h"
#include "serving/live_sessions.h"

namespace burn::serving {
namespace {

// Among so many calls that wait, programs are prepared; further ones would only take threads from other sessions.
constexpr std::size_t kPreparedCalls = 64;
// Of calls that wait, how many are looked through for runs whose plans have to be compiled again.
constexpr std::size_t kRunsAhead = 8;
// Progress is reported after so long without a call.
constexpr std::chrono::microseconds kQuiet{200};
// How long the process may take to end: after its main thread, and once sessions are stopped.
constexpr std::chrono::seconds kAfterMain{2}, kAfterStop{10};

class ExecutedSession final : public QueuedSession {
 public:
  ExecutedSession(std::unique_ptr<CallPerformer> performer, const Quotas& quotas, Execution execution)
      : performer_(std::move(performer)),
        execution_(execution),
        progress_batch_(std::clamp<std::uint64_t>(quotas.in_flight / 2, 1, kProgressBatch)),
        calls_(quotas, performer_->budget()) {
    if (auto health = performer_->health(); !health.ok()) {
      end_ = std::move(health);
      closing_ = true;
    }
    try {
      executor_ = start_thread("burn-session", [this] { execute(); });
    } catch (const std::system_error& failure) {  // the system has no more threads: health() says so
      end_ = resource_exhausted(fmt::format("no thread to be had for the session: {}", failure.what()));
      closing_ = true;
    }
    executor_id_ = executor_.get_id();
    LiveSessions::instance().add(*this);
  }
  ~ExecutedSession() override {
    LiveSessions::instance().remove(*this);
    ExecutedSession::close();
  }

  const proto::SessionInfo& info() const override { return performer_->info(); }
  proto::SessionTraits traits() const override { return performer_->traits(); }
  Status health() const override {
    const std::lock_guard lock{mutex_};
    return closing_ && !is_answered_late() ? end_ : Status{};
  }

  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::vector<proto::ProgramId> forget) override {
    if (!program) return define_invalid(id, 0, invalid_argument("there is no program"), std::move(forget));
    return enqueue(DefineCall{{id, std::move(program), std::move(forget)}});
  }
  Status define_encoded(proto::ProgramId id, SharedBytes program, std::vector<proto::ProgramId> forget) override {
    return enqueue(DefineCall{{.id = id, .forget = std::move(forget), .encoded = std::move(program)}});
  }
  Status define_invalid(proto::ProgramId id, std::size_t output_count, Status why,
                        std::vector<proto::ProgramId> forget) override {
    if (why.ok()) why = invalid_argument("there is no program");
    return enqueue(
        DefineCall{{.id = id, .forget = std::move(forget), .invalid = std::move(why), .output_count = output_count}});
  }
  Status run(proto::Run run) override { return enqueue(proto::RunProgram{std::move(run)}); }
  Status write(proto::TensorId id, proto::HostTensor tensor, proto::WriteOptions options) override {
    WriteCall call{id, std::move(tensor), {}, options};
    if (auto fits = proto::check_batch_axis(options, call.tensor.type); !fits.ok()) call.fail(std::move(fits));
    return enqueue(std::move(call));
  }
  Status release(std::vector<proto::TensorId> ids) override { return enqueue(proto::Release{std::move(ids)}); }

  void read(proto::TensorId id, ReadCallback done) override {
    Call call{ReadCall{id, std::move(done)}};
    if (const auto status = try_enqueue(call); !status.ok()) std::get<ReadCall>(call).done(status);
  }
  void sync(SyncCallback done) override {
    Call call{SyncCall{std::move(done)}};
    if (const auto status = try_enqueue(call); !status.ok()) std::get<SyncCall>(call).done(status);
  }

  Result<std::unique_ptr<Upload>> begin_upload(proto::TensorId id, const ir::TensorType& type,
                                               proto::WriteOptions options) override {
    WriteCall call{id, {type, {}}, {}, options};
    if (auto fits = proto::check_batch_axis(options, type); fits.ok())
      call.parts = performer_->receive(id, type);
    else
      call.fail(std::move(fits));
    const auto& parts = *call.parts;  // NOLINT(bugprone-unchecked-optional-access): both branches have set it
    auto upload = parts.upload;
    const auto failed = parts.failed;
    BURN_RETURN_IF_ERROR(enqueue(std::move(call)));
    BURN_RETURN_IF_ERROR(failed);
    return std::unique_ptr<Upload>{std::make_unique<UploadHandle>(std::move(upload))};
  }

  void prepare_group(const proto::GroupPlace& place, const AddressCallback& done) override {
    auto health = this->health();
    health.ok() ? performer_->prepare_group(place, done) : done(std::move(health));
  }
  void open_group(const proto::GroupPlace& place, std::vector<std::string> addresses,
                  std::chrono::milliseconds deadline, const SyncCallback& done) override {
    auto health = this->health();
    health.ok() ? performer_->open_group(place, std::move(addresses), deadline, done) : done(std::move(health));
  }
  void abort_group(std::uint32_t group, std::uint64_t epoch, const Status& why) override {
    performer_->abort_group(group, epoch, why);
  }

  void on_progress(std::function<void(std::uint64_t)> callback) override {
    const std::lock_guard lock{mutex_};
    progress_ = std::move(callback);
  }

  proto::SessionStats stats() const override {
    auto stats = performer_->stats();
    stats.queued = queued();
    return stats;
  }
  void stats(const StatsCallback& done) override {
    if (auto why = health(); !why.ok()) return done(std::move(why));
    performer_->ask_stats([done, queued = queued()](Result<proto::SessionStats> stats) {
      if (stats.ok()) stats->queued = queued;
      done(std::move(stats));
    });
  }

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
    return std::this_thread::get_id() == executor_id_ || CallbackScope::is_inside(performer_.get());
  }
  void begin_close() override {
    {
      const std::lock_guard lock{mutex_};
      closing_ = true;
    }
    work_.notify_all();
    room_.notify_all();
    performer_->interrupt();
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
  std::size_t queued() const {
    const std::lock_guard lock{mutex_};
    return calls_.size();
  }
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
    if (may_execute_here() && performer_->is_quick(call)) {
      execute(call, lock);
      if (calls_.empty()) {
        report(lock);
      } else {
        work_.notify_one();  // others came meanwhile and left it to us
      }
      return {};
    }
    if (auto status = calls_.admit(call); !status.ok()) {
      auto* write = std::get_if<WriteCall>(&call);
      if (!write) return status;
      write->fail(std::move(status));
      calls_.admit_small(call);
    }
    if ((executing_ || !calls_.empty()) && calls_.size() < kPreparedCalls) performer_->prepare_ahead(call);
    calls_.push(std::move(call));
    if (paused_ && ending_thread_ == std::this_thread::get_id()) may_begin_ = calls_.size();
    if (calls_.size() == 1 || paused_) work_.notify_one();
    return {};
  }

  // Requires: the lock. Whether another thread than this one ends the process, and has stopped the session.
  bool is_answered_late() const { return answers_late_ && ending_thread_ != std::this_thread::get_id(); }
  static bool is_question(const Call& call) {
    return std::visit([](const auto& kind) { return requires { kind.done; }; }, call);
  }

  // Requires: the lock. Then only this thread uses the performer.
  bool may_execute_here() const {
    return execution_ == Execution::by_quick_callers && !executing_ && calls_.empty() && !is_on_own_thread();
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
      std::chrono::nanoseconds waited{0};
      auto call = calls_.pop(&makes_room, &waited);
      performer_->wait_was(waited);
      if (makes_room) room_.notify_all();
      calls_.look_ahead(kRunsAhead, [&](proto::ProgramId id) { performer_->prepare_run(id); });
      execute(call, lock);
      // Sessions with short runs are scheduled before those that compute for long.
      if (const auto fitting = performer_->ran_long() ? TimeSlice::usual : TimeSlice::brief; fitting != slice)
        request_time_slice(slice = fitting);
    }
    const auto rest = calls_.clear();
    lock.unlock();
    performer_->finish();  // these answers come first
    lock.lock();
    has_stopped_ = true;
    room_.notify_all();
    room_.wait_for(lock, kAfterStop, [&] { return !answers_late_; });
    answers_late_ = false;
    const auto late = std::move(late_);
    lock.unlock();
    for (const auto& call : rest) refuse(call);
    for (const auto& call : late) refuse(call);
    performer_->clear();
  }

  void refuse(const Call& call) const {
    std::visit(
        [&](const auto& kind) {
          if constexpr (requires { kind.done; }) kind.done(end_);
        },
        call);
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

  // One call at a time, on the executor or on a caller's thread.
  void execute(Call& call, std::unique_lock<std::mutex>& lock) {
    executing_ = true;
    lock.unlock();
    auto broken = performed([&] { performer_->perform(call); });
    { const Call done = std::move(call); }  // what it holds is freed outside the lock
    lock.lock();
    if (!broken.ok()) break_off(broken);
    ++executed_;
    if (executed_ - reported_ >= progress_batch_) report_now(lock);
    executing_ = false;
    if (closing_) work_.notify_one();
    if (paused_) room_.notify_all();
  }

  // Whether nothing has waited for kQuiet. A client that goes on at once is told of its progress with later calls:
  // telling it of each would take a tenth of a small step's time.
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
  // to say so, ends this session and no other.
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

  const std::unique_ptr<CallPerformer> performer_;
  const Execution execution_;
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
  bool has_stopped_ = false;       // the executor executes no more
  std::vector<Call> late_;         // questions of other threads since
  std::thread::id ending_thread_;  // none: it goes on

  std::mutex join_mutex_;
  std::thread executor_;
  std::thread::id executor_id_;  // set before the session is known to other threads
};

}  // namespace

std::unique_ptr<QueuedSession> QueuedSession::make(std::unique_ptr<CallPerformer> performer, const Quotas& quotas,
                                                   Execution execution) {
  return std::make_unique<ExecutedSession>(std::move(performer), quotas, execution);
}

}  // namespace burn::serving
