#include "router/pass_through.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace burn::router {
namespace {

class PassThrough final : public proto::ServedSession {
 public:
  PassThrough(std::unique_ptr<net::RemoteSession> worker, proto::SessionInfo info)
      : info_(std::move(info)), worker_(std::move(worker)) {
    worker_->listen({.progress = [this](std::uint64_t executed) { tell(progress_, executed); },
                     .sent_parts = [this] { tell(upload_progress_); },
                     .ended = [this](const Status& why) { end(why); }});
  }
  ~PassThrough() override { PassThrough::close(); }

  const proto::SessionInfo& info() const override { return info_; }
  proto::SessionTraits traits() const override { return worker_->traits(); }
  Status health() const override { return worker_->health(); }

  Status define(proto::ProgramId id, std::shared_ptr<const ir::Program> program,
                std::vector<proto::ProgramId> forget) override {
    ++programs_;
    return worker_->define(id, std::move(program), std::move(forget));
  }
  Status define_encoded(proto::ProgramId id, SharedBytes program, std::vector<proto::ProgramId> forget) override {
    ++programs_;
    return worker_->define_encoded(id, std::move(program), std::move(forget));
  }
  Status run(proto::Run run) override {
    ++runs_;
    return worker_->run(std::move(run));
  }
  Status write(proto::TensorId id, proto::HostTensor tensor, proto::WriteOptions options) override;
  Result<std::unique_ptr<Upload>> begin_upload(proto::TensorId id, const ir::TensorType& type,
                                               proto::WriteOptions options) override {
    return worker_->begin_upload(id, type, options);
  }
  std::uint64_t upload_backlog() const override { return worker_->upload_backlog(); }
  Status release(std::vector<proto::TensorId> ids) override { return worker_->release(std::move(ids)); }
  void read(proto::TensorId id, ReadCallback done) override { worker_->read(id, std::move(done)); }
  void sync(SyncCallback done) override { worker_->sync(std::move(done)); }
  void stats(const StatsCallback& done) override { worker_->stats(done); }
  // Counters that are known without asking the worker: the programs and runs that were forwarded.
  proto::SessionStats stats() const override {
    return {.session = {.runs = runs_}, .device = {}, .programs = programs_};
  }
  void begin_burst() override { worker_->begin_burst(); }
  void end_burst() override { worker_->end_burst(); }

  void on_progress(std::function<void(std::uint64_t)> callback) override { set(progress_, std::move(callback)); }
  void on_upload_progress(std::function<void()> callback) override { set(upload_progress_, std::move(callback)); }
  void on_end(std::function<void(const Status&)> callback) override;

  void begin_close() override {
    is_closing_ = true;
    worker_->begin_close();
  }
  void close() override {
    is_closing_ = true;
    worker_->close();
  }

 private:
  template <typename Callback>
  void set(Callback& callback, Callback value) {
    const std::lock_guard lock{mutex_};
    callback = std::move(value);
  }
  // Invokes a callback, on the worker's thread. Callbacks are set before the first call, and there are no events before
  // that.
  template <typename Callback, typename... Arguments>
  static void tell(const Callback& callback, Arguments... arguments) {
    if (callback) callback(arguments...);
  }
  void end(const Status& why);

  const proto::SessionInfo info_;
  std::atomic<std::uint64_t> programs_ = 0, runs_ = 0;
  std::atomic<bool> is_closing_ = false;
  std::function<void(std::uint64_t)> progress_;
  std::function<void()> upload_progress_;
  std::mutex mutex_;
  std::function<void(const Status&)> on_end_;         // Guarded by `mutex_`.
  std::optional<Status> ended_;                       // Guarded by `mutex_`.
  const std::unique_ptr<net::RemoteSession> worker_;  // last: its destructor waits for users of the others
};

// A tensor that the worker will refuse is sent as an upload, so that only this tensor fails.
Status PassThrough::write(proto::TensorId id, proto::HostTensor tensor, proto::WriteOptions options) {
  const bool is_taken = tensor.bytes.size() <= info_.max_tensor_bytes && check_batch_axis(options, tensor.type).ok();
  if (is_taken) return worker_->write(id, std::move(tensor), options);
  BURN_TRY(const auto upload, worker_->begin_upload(id, tensor.type, options));
  return upload->fill_shared(0, tensor.bytes);
}

void PassThrough::on_end(std::function<void(const Status&)> callback) {
  std::optional<Status> ended;
  {
    const std::lock_guard lock{mutex_};
    ended = ended_;
    if (!ended) on_end_ = callback;
  }
  if (ended && !is_closing_) callback(*ended);
}

void PassThrough::end(const Status& why) {
  std::function<void(const Status&)> callback;
  {
    const std::lock_guard lock{mutex_};
    ended_ = why;
    callback = std::exchange(on_end_, nullptr);
  }
  if (callback && !is_closing_) callback(why);
}

}  // namespace

std::unique_ptr<proto::ServedSession> make_pass_through(std::unique_ptr<net::RemoteSession> worker,
                                                        proto::SessionInfo info) {
  return std::make_unique<PassThrough>(std::move(worker), std::move(info));
}

}  // namespace burn::router
