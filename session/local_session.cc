#include "session/local_session.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/overloaded.h"
#include "proto/message.h"
#include "session/callback_scope.h"
#include "session/live_sessions.h"
#include "session/state.h"
#include "session/version.h"

namespace burn::session {
namespace {

struct DefineCall {
  proto::ProgramId id;
  std::shared_ptr<const ir::Program> program;
  std::vector<proto::ProgramId> forget;
};
struct InvalidCall {
  proto::ProgramId id;
  std::size_t output_count;
  Status why;
  std::vector<proto::ProgramId> forget;
};
struct WriteCall {
  proto::TensorId id;
  proto::HostTensor tensor;
};
struct UploadCall {
  proto::TensorId id;
  ir::TensorType type;
  std::shared_ptr<StagedUpload> upload;
  Budget::Share share;
  Status failed;
};
struct ReleaseCall {
  std::vector<proto::TensorId> ids;
};
struct ReadCall {
  proto::TensorId id;
  proto::Session::ReadCallback done;
};
struct SyncCall {
  proto::Session::SyncCallback done;
};
using Call = std::variant<DefineCall, InvalidCall, proto::Run, WriteCall, UploadCall, ReleaseCall, ReadCall, SyncCall>;

// The client's end of an upload.
class UploadHandle final : public LocalSession::Upload {
 public:
  explicit UploadHandle(std::shared_ptr<StagedUpload> upload) : upload_(std::move(upload)) {}
  ~UploadHandle() override { upload_->finish(); }
  Status fill(std::uint64_t offset, std::span<const std::byte> bytes) override { return upload_->fill(offset, bytes); }
  std::shared_ptr<std::byte> destination(std::uint64_t offset, std::size_t size) override {
    return upload_->destination(offset, size);
  }
  bool complete() const override { return upload_->complete(); }

 private:
  const std::shared_ptr<StagedUpload> upload_;
};

class QueuedSession final : public LocalSession {
 public:
  QueuedSession(std::shared_ptr<Worker> worker, const Quotas& quotas, Execution execution)
      : worker_(std::move(worker)),
        quotas_(quotas),
        execution_(execution),
        budget_(std::min(quotas.tensor_bytes, worker_->backend().limits().memory_bytes)),
        stream_(worker_->backend(), signal_, this),
        state_(worker_, quotas_, budget_, stream_),
        most_waiting_bytes_(std::max<std::uint64_t>(quotas.waiting_bytes, quotas.in_flight * proto::kInlineBytes)),
        progress_batch_(std::clamp<std::uint64_t>(quotas.in_flight / 2, 1, kProgressBatch)) {
    static std::atomic<std::uint64_t> counter = 0;
    const auto limits = worker_->backend().limits();
    info_.server = kServerName;
    info_.session = fmt::format("s-{}", ++counter);
    info_.devices = {std::string{worker_->backend().name()}};
    info_.max_tensor_bytes = std::min(limits.max_buffer_bytes, std::min(quotas.tensor_bytes, limits.memory_bytes));
    info_.max_in_flight = quotas.in_flight;
    info_.bulk_credit = proto::kInitialCredit;
    info_.max_programs = quotas.programs;
    info_.max_program_entries = quotas.program_entries;
    if (!stream_.status().ok()) {
      end_ = stream_.status().with_context(info_.devices.front());
      closing_ = true;
    }
    worker_->count_session(+1);
    try {
      executor_ = std::thread{[this] { execute(); }};
    } catch (const std::system_error& error) {  // the system gives no thread: nothing is executed, and nothing taken
      end_ = resource_exhausted(fmt::format("there is no thread for another session: {}", error.what()));
      closing_ = true;
    }
    executor_id_ = executor_.get_id();
    LiveSessions::instance().add(*this);
  }
  ~QueuedSession() override {
    LiveSessions::instance().remove(*this);
    QueuedSession::close();
    worker_->count_session(-1);
  }

  const proto::SessionInfo& info() const override { return info_; }
  Status health() const override {
    const std::lock_guard lock{mutex_};
    return closing_ ? end_ : Status{};
  }

  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::vector<proto::ProgramId> forget) override {
    return enqueue(DefineCall{id, std::move(program), std::move(forget)});
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
    if (!try_enqueue(call)) std::get<ReadCall>(call).done(end_);
  }
  void sync(SyncCallback done) override {
    Call call{SyncCall{std::move(done)}};
    if (!try_enqueue(call)) std::get<SyncCall>(call).done(end_);
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

  Stats stats() const override { return {programs_, runs_, budget_.in_use(), budget_.peak()}; }

  void pause() override {
    if (execution_ == Execution::by_quick_callers) return;  // a server's, which may be waiting for its client
    std::unique_lock lock{mutex_};
    paused_ = true;
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
  }
  void close() override {
    begin_close();
    const std::lock_guard lock{join_mutex_};
    if (executor_.joinable()) executor_.join();
  }

 private:
  Status enqueue(Call call) { return try_enqueue(call) ? Status{} : end_; }

  // Takes the call unless the session is closed. Waits for room, but not in a callback: it may be what makes the room.
  bool try_enqueue(Call& call) {
    LiveSessions::pause_at_end();
    const std::uint64_t bytes = written_by(call);
    std::unique_lock lock{mutex_};
    if (std::exchange(paused_, false)) work_.notify_one();
    if (!is_on_own_thread()) {
      room_.wait(lock, [&] { return closing_ || has_room(bytes); });
    }
    if (closing_) return false;
    if (may_execute_here() && is_quick(call)) {
      execute(call, lock);
      if (calls_.empty()) {
        report(lock);
      } else {
        work_.notify_one();  // others came meanwhile and left it to us
      }
      return true;
    }
    calls_.push_back(std::move(call));
    waiting_bytes_ += bytes;
    if (calls_.size() == 1) work_.notify_one();
    return true;
  }

  static std::uint64_t written_by(const Call& call) {
    const auto* write = std::get_if<WriteCall>(&call);
    return write ? write->tensor.bytes.size() : 0;
  }

  // Requires: the lock. One tensor may always wait, whatever its size.
  bool has_room(std::uint64_t bytes) const {
    return calls_.size() < quotas_.in_flight &&
           (bytes == 0 || waiting_bytes_ == 0 || waiting_bytes_ + bytes <= most_waiting_bytes_);
  }

  // Requires: the lock. Then nobody but the caller touches what is the executor's.
  bool may_execute_here() const {
    return execution_ == Execution::by_quick_callers && !executing_ && calls_.empty() && !is_on_own_thread();
  }

  bool is_quick(const Call& call) const {
    if (stream_.is_behind()) return false;  // would wait
    return std::visit(
        Overloaded{
            [](const DefineCall&) { return false; },  // compiles
            [&](const proto::Run& run) { return state_.is_quick(run); },
            [](const WriteCall& write) { return write.tensor.bytes.size() <= proto::kInlineBytes; },
            [](const ReleaseCall& release) { return release.ids.size() <= SessionState::kMaxQuickReleases; },
            [&](const ReadCall& read) { return state_.is_quick_read(read.id); },
            [](const auto&) { return true; },
        },
        call);
  }

  // Room for the tensor, in the budget and in memory.
  Status receive(UploadCall& call) {
    const auto bytes = call.type.num_bytes();
    if (bytes > info_.max_tensor_bytes) {
      return resource_exhausted(fmt::format("tensor {}: {} has {} bytes, at most {} may be", call.id,
                                            ir::to_string(call.type), bytes, info_.max_tensor_bytes));
    }
    BURN_TRY(call.share, budget_.take(bytes));
    BURN_TRY(call.upload, StagedUpload::create(signal_, worker_->backend(), bytes));
    return {};
  }

  void execute() {
    std::unique_lock lock{mutex_};
    while (true) {
      if (calls_.empty() && !executing_) report(lock);
      work_.wait(lock, [&] { return !executing_ && (closing_ || (!calls_.empty() && !paused_)); });
      if (closing_) break;
      auto call = std::move(calls_.front());
      calls_.pop_front();
      const std::uint64_t bytes = written_by(call);
      waiting_bytes_ -= bytes;
      if (calls_.size() + 1 >= quotas_.in_flight || bytes > 0) room_.notify_all();
      execute(call, lock);
    }
    const auto rest = std::exchange(calls_, {});
    lock.unlock();
    stream_.close();  // these answers come first
    for (const auto& call : rest) {
      if (const auto* read = std::get_if<ReadCall>(&call)) read->done(end_);
      if (const auto* sync = std::get_if<SyncCall>(&call)) sync->done(end_);
    }
    state_.clear();
  }

  // One at a time, whoever does it.
  void execute(Call& call, std::unique_lock<std::mutex>& lock) {
    executing_ = true;
    lock.unlock();
    perform(call);
    { const Call done = std::move(call); }  // what it holds is freed outside the lock
    lock.lock();
    ++executed_;
    if (executed_ - reported_ >= progress_batch_) report_now(lock);
    executing_ = false;
    if (closing_) work_.notify_one();
    if (paused_) room_.notify_all();
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
    progress(executed);
    lock.lock();
  }

  void perform(Call& call) {
    stream_.wait_for_device();
    std::visit(Overloaded{
                   [&](ReadCall& read) { state_.read(read.id, std::move(read.done)); },
                   [&](SyncCall& sync) { stream_.sync(std::move(sync.done)); },
                   [&](auto& other) { change(other); },
               },
               call);
  }

  void change(DefineCall& call) {
    ++programs_;
    state_.define(call.id, std::move(call.program), call.forget);
  }
  void change(InvalidCall& call) { state_.define_invalid(call.id, call.output_count, call.why, call.forget); }
  void change(proto::Run& run) {
    ++runs_;
    state_.run(run);
  }
  void change(WriteCall& call) { state_.write(call.id, call.tensor); }
  void change(UploadCall& call) {
    state_.begin_upload(call.id, call.type, std::move(call.upload), std::move(call.share), std::move(call.failed));
  }
  void change(ReleaseCall& call) { state_.release(call.ids); }

  const std::shared_ptr<Worker> worker_;
  const Quotas quotas_;
  const Execution execution_;
  proto::SessionInfo info_;
  Budget budget_;
  const std::shared_ptr<SessionSignal> signal_ = std::make_shared<SessionSignal>();
  Status end_ = cancelled("the session is closed");  // what calls are told then

  // Of whoever executes.
  SessionStream stream_;
  SessionState state_;
  std::uint64_t executed_ = 0, reported_ = 0;
  const std::uint64_t most_waiting_bytes_;
  const std::uint64_t progress_batch_;

  std::atomic<std::uint64_t> programs_ = 0, runs_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable work_, room_;
  std::deque<Call> calls_;
  std::uint64_t waiting_bytes_ = 0;  // of tensors to be written, among the calls
  std::function<void(std::uint64_t)> progress_;
  bool executing_ = false;  // somebody is
  bool paused_ = false;     // nobody is to begin, until there is another call
  bool closing_ = false;

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
