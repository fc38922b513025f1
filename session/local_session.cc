#include "session/local_session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "backends/detached_work.h"
#include "serving/call_performer.h"
#include "serving/signal.h"
#include "session/accounts.h"
#include "session/group.h"
#include "session/housekeeper.h"
#include "session/perform_call.h"
#include "session/session_info.h"
#include "session/state.h"
#include "session/stream.h"

namespace burn::session {
namespace {

using serving::Budget;
using serving::Call;
using serving::WriteCall;

// Performs a session's calls on a worker's device.
class DevicePerformer final : public serving::CallPerformer {
 public:
  DevicePerformer(std::shared_ptr<Worker> worker, const Quotas& quotas, const std::string& collective_host)
      : worker_(std::move(worker)),
        info_(describe_session(*worker_, quotas)),
        account_(worker_->backend()),
        budget_(std::make_shared<Budget>(std::min(quotas.tensor_bytes, worker_->backend().limits().memory_bytes),
                                         &account_, quotas.tenant)),
        stream_(worker_->backend(), signal_, static_cast<const CallPerformer*>(this)),
        groups_(worker_->backend(), collective_host, static_cast<const CallPerformer*>(this), worker_->collectives()),
        state_(worker_, quotas, budget_, stream_, groups_) {
    worker_->count_session(+1);
    stream_.on_exhausted([worker = worker_.get()] { worker->count_allocation_failure(); });
    // An asynchronous device schedules submitted work itself.
    has_gate_ = quotas.tenant && worker_->backend().computes_on_host();
    if (has_gate_) stream_.wait_at(worker_->gate(), quotas.tenant);
  }
  ~DevicePerformer() override {
    budget_->leave_account();  // tensors that are still being read keep the budget alive
    worker_->count_session(-1);
  }

  const proto::SessionInfo& info() const override { return info_; }
  proto::SessionTraits traits() const override { return {.spares_cores = !worker_->backend().computes_on_host()}; }
  Status health() const override {
    return stream_.status().ok() ? Status{} : stream_.status().with_context(info_.devices.front());
  }

  Budget& budget() override { return *budget_; }
  WriteCall::Parts receive(proto::TensorId id, const ir::TensorType& type) override {
    WriteCall::Parts parts;
    parts.failed = make_room(id, type, parts);
    return parts;
  }

  proto::SessionStats stats() const override {
    const auto seconds = [](std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); };
    return {.session = {.memory_in_use = budget_->in_use(),
                        .memory_peak = budget_->peak(),
                        .memory_reserved = budget_->in_use() + budget_->host(),
                        .memory_limit = budget_->limit(),
                        .host_bytes = budget_->host(),
                        .runs = runs_,
                        .busy_seconds = seconds(state_.busy())},
            .device = usage_of(*worker_),
            .programs = programs_};
  }

  void set_queue_time(std::chrono::nanoseconds time) override { queued_ = time; }
  void perform(Call& call) override {
    const auto* define = std::get_if<serving::DefineCall>(&call);
    if (define && define->define.invalid.ok()) ++programs_;
    if (std::holds_alternative<proto::RunProgram>(call)) ++runs_;
    wait_for_device();
    if (has_gate_) stream_.set_waits(!has_groups_ && !session::is_quick(call, state_));
    perform_call(call, state_, stream_, std::exchange(queued_, {}));
  }
  void prepare_ahead(Call& call) override { session::prepare_ahead(call, state_); }
  void prepare_run(proto::ProgramId program) override { state_.prepare_run(program); }
  bool is_quick(const Call& call) const override { return !stream_.is_behind() && session::is_quick(call, state_); }
  bool ran_long() const override { return state_.ran_long(); }

  void prepare_group(const proto::GroupPlace& place, const proto::Session::AddressCallback& done) override {
    has_groups_ = true;
    groups_.prepare(place, done);
  }
  void open_group(const proto::GroupPlace& place, std::vector<std::string> addresses,
                  std::chrono::milliseconds deadline, const proto::Session::SyncCallback& done) override {
    groups_.open(place, std::move(addresses), deadline, done);
  }
  void abort_group(std::uint32_t group, std::uint64_t epoch, const Status& why) override {
    groups_.abort(group, epoch, why);
  }

  void interrupt() override {
    signal_->close();
    stream_.interrupt();
    groups_.leave();
  }
  void finish() override {
    stream_.close();
    groups_.close();
  }
  void clear() override { state_.clear(); }

 private:
  void wait_for_device() {
    if (!stream_.is_behind()) return;
    const auto start = std::chrono::steady_clock::now();
    stream_.wait_for_device();
    queued_ += std::chrono::steady_clock::now() - start;
  }
  // Charges the budget and allocates the memory.
  Status make_room(proto::TensorId id, const ir::TensorType& type, WriteCall::Parts& parts) {
    const auto bytes = type.num_bytes();
    if (bytes > info_.max_tensor_bytes) {
      return resource_exhausted(fmt::format("tensor {}: {} has {} bytes, at most {} may be", id, ir::to_string(type),
                                            bytes, info_.max_tensor_bytes));
    }
    BURN_TRY(parts.share, budget_->take(bytes));
    BURN_TRY(auto block, worker_->backend().host_block(bytes));
    parts.upload = std::make_shared<serving::StagedUpload>(signal_, std::move(block));
    return {};
  }

  const std::shared_ptr<Worker> worker_;
  const proto::SessionInfo info_;
  BackendAccount account_;
  const std::shared_ptr<Budget> budget_;
  const std::shared_ptr<serving::SessionSignal> signal_ = std::make_shared<serving::SessionSignal>();
  SessionStream stream_;
  SessionGroups groups_;
  SessionState state_;
  std::atomic<std::uint64_t> programs_ = 0, runs_ = 0;
  bool has_gate_ = false;
  std::chrono::nanoseconds queued_{0};    // wait of the call that is performed next
  std::atomic<bool> has_groups_ = false;  // a run may wait for members of its group
};

// Waits for work other than sessions when the process ends.
void wait_for_other_work() {
  backends::AbandonedWork::wait_for_all();
  Housekeeper::end_all();
}

}  // namespace

std::unique_ptr<LocalSession> make_local_session(std::shared_ptr<Worker> worker, const Quotas& quotas,
                                                 Execution execution, const std::string& collective_host) {
  serving::LiveSessions::wait_at_end(wait_for_other_work);
  return LocalSession::make(std::make_unique<DevicePerformer>(std::move(worker), quotas, collective_host), quotas,
                            execution);
}

}  // namespace burn::session
