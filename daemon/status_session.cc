#include "daemon/status_session.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/parse_number.h"

namespace burn::daemon {
namespace {

constexpr std::string_view kStatus = "status";

class DevicelessSession final : public proto::ServedSession {
 public:
  DevicelessSession(proto::SessionInfo info, Status health, std::function<proto::SessionStats()> stats)
      : info_(std::move(info)), health_(std::move(health)), stats_(std::move(stats)) {}

  const proto::SessionInfo& info() const override { return info_; }
  Status health() const override { return health_; }

  Status define(proto::ProgramId, std::shared_ptr<const ir::Program>, std::vector<proto::ProgramId>) override {
    return refusal();
  }
  Status define_encoded(proto::ProgramId, SharedBytes, std::vector<proto::ProgramId>) override { return refusal(); }
  Status run(proto::Run) override { return refusal(); }
  Status write(proto::TensorId, proto::HostTensor, proto::WriteOptions) override { return refusal(); }
  Result<std::unique_ptr<Upload>> begin_upload(proto::TensorId, const ir::TensorType&, proto::WriteOptions) override {
    return refusal();
  }
  Status release(std::vector<proto::TensorId>) override { return refusal(); }
  void read(proto::TensorId, ReadCallback done) override {
    done(refusal());
    report_call();
  }
  void sync(SyncCallback done) override {
    done(refusal());
    report_call();
  }

  using ServedSession::stats;
  proto::SessionStats stats() const override { return stats_ ? stats_() : proto::SessionStats{}; }
  void on_progress(std::function<void(std::uint64_t)> callback) override { progress_ = std::move(callback); }
  void begin_close() override {}
  void close() override {}

 private:
  Status refusal() const {
    return health_.ok() ? failed_precondition("a session on the device \"status\" has stats, and nothing else")
                        : health_;
  }
  // Calls are made one at a time, in the order of the frames of a connection.
  void report_call() {
    ++calls_;
    if (progress_) progress_(calls_);
  }

  const proto::SessionInfo info_;
  const Status health_;
  const std::function<proto::SessionStats()> stats_;
  std::function<void(std::uint64_t)> progress_;
  std::uint64_t calls_ = 0;
};

}  // namespace

std::optional<proto::Hello> status_subject(const proto::Hello& hello) {
  std::string_view name{hello.device_name};
  if (!name.starts_with(kStatus)) return std::nullopt;
  name.remove_prefix(kStatus.size());
  auto subject = hello;
  subject.device_name.clear();
  if (name.empty()) return subject;
  if (name.front() != ':') return std::nullopt;
  name.remove_prefix(1);
  if (const auto number = parse_number<std::uint32_t>(name)) {
    subject.device = *number;
  } else {
    subject.device_name = name;
  }
  return subject;
}

std::unique_ptr<proto::ServedSession> make_status_session(proto::SessionInfo info,
                                                          std::function<proto::SessionStats()> stats) {
  return std::make_unique<DevicelessSession>(std::move(info), Status{}, std::move(stats));
}

std::unique_ptr<proto::ServedSession> make_refused_session(Status why) {
  return std::make_unique<DevicelessSession>(proto::SessionInfo{}, std::move(why), nullptr);
}

}  // namespace burn::daemon
