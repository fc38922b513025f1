#include "serving/queued_session.h"

#include <string>
#include <utility>

#include "proto/message.h"
#include "serving/call_performer.h"
#include "serving/executor.h"
#include "serving/live_sessions.h"

namespace burn::serving {
namespace {

class ExecutedSession final : public QueuedSession {
 public:
  ExecutedSession(std::unique_ptr<CallPerformer> performer, const Quotas& quotas, Execution execution)
      : performer_(std::move(performer)), executor_(*performer_, quotas, execution == Execution::caller_if_quick) {
    LiveSessions::instance().add(*this);
  }
  ~ExecutedSession() override {
    LiveSessions::instance().remove(*this);
    executor_.close();
  }

  const proto::SessionInfo& info() const override { return performer_->info(); }
  proto::SessionTraits traits() const override { return performer_->traits(); }
  Status health() const override { return executor_.health(); }

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
    if (const auto status = executor_.enqueue(call); !status.ok()) std::get<ReadCall>(call).done(status);
  }
  void sync(SyncCallback done) override {
    Call call{SyncCall{std::move(done)}};
    if (const auto status = executor_.enqueue(call); !status.ok()) std::get<SyncCall>(call).done(status);
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

  void on_progress(std::function<void(std::uint64_t)> callback) override { executor_.on_progress(std::move(callback)); }

  proto::SessionStats stats() const override {
    auto stats = performer_->stats();
    stats.queued = executor_.queued();
    return stats;
  }
  void stats(const StatsCallback& done) override {
    if (auto why = health(); !why.ok()) return done(std::move(why));
    performer_->ask_stats([done, queued = executor_.queued()](Result<proto::SessionStats> stats) {
      if (stats.ok()) stats->queued = queued;
      done(std::move(stats));
    });
  }

  bool is_on_own_thread() const override { return executor_.is_on_own_thread(); }
  void begin_close() override { executor_.begin_close(); }
  void close() override { executor_.close(); }

  void pause() override { executor_.pause(); }
  void begin_stop() override { executor_.begin_stop(); }
  void stop() override { executor_.stop(); }

 private:
  Status enqueue(Call call) { return executor_.enqueue(call); }

  const std::unique_ptr<CallPerformer> performer_;
  Executor executor_;
};

}  // namespace

std::unique_ptr<QueuedSession> QueuedSession::make(std::unique_ptr<CallPerformer> performer, const Quotas& quotas,
                                                   Execution execution) {
  return std::make_unique<ExecutedSession>(std::move(performer), quotas, execution);
}

}  // namespace burn::serving
