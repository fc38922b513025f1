// Performs the calls of one client's session on several workers: passes them to SessionCore, sends its output to the
// members and delivers their answers.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "router/answer_order.h"
#include "router/core/session_core.h"
#include "router/fleet_session.h"
#include "router/members.h"
#include "router/run_spans.h"
#include "serving/call_performer.h"
#include "serving/failure_log.h"
#include "serving/signal.h"

namespace burn::router {

class FleetPerformer final : public serving::CallPerformer {
 public:
  explicit FleetPerformer(FleetOptions options);
  ~FleetPerformer() override;

  const proto::SessionInfo& info() const override { return info_; }
  proto::SessionTraits traits() const override { return {.spares_cores = true}; }
  Status health() const override { return members_.lost(); }
  serving::Budget& budget() override { return *budget_; }
  serving::WriteCall::Parts receive(proto::TensorId id, const ir::TensorType& type) override;
  proto::SessionStats stats() const override;
  void ask_stats(const proto::Session::StatsCallback& done) override;
  void set_queue_time(std::chrono::nanoseconds time) override { queued_ = time; }
  void perform(serving::Call& call) override;
  void prepare_ahead(serving::Call& /*call*/) override {}  // the members compile ahead
  void prepare_run(proto::ProgramId /*program*/) override {}
  bool is_quick(const serving::Call& /*call*/) const override { return false; }  // a member may block it
  bool ran_long() const override { return false; }
  void interrupt() override;
  void finish() override;
  void clear() override;

 private:
  void define(serving::DefineCall& call);
  void run(proto::Run& run, std::chrono::nanoseconds queued);
  void write(serving::WriteCall& call);
  void read(serving::ReadCall& call);
  void sync(serving::SyncCall& call);
  Status widen();
  void restore_group();
  Status form_groups(serving::DurationHistogram& times);
  void finish_call(Failure refused);  // sends the outbox; records a refusal
  void check_replicas(const proto::Run& run);
  void refuse(serving::Call& call, const Status& why);
  Status answer_of(const Status& status);
  void answer_read(std::uint64_t question, const proto::Session::ReadCallback& done, Result<proto::HostTensor> result,
                   std::vector<int> reported_by = {});

  proto::SessionInfo info_;
  const serving::Quotas quotas_;
  const std::chrono::milliseconds group_timeout_;
  const std::shared_ptr<FleetTimes> times_;
  const std::shared_ptr<SpanSink> spans_;
  const int home_;  // the member on which the session runs until the first batch
  Members members_;
  const std::shared_ptr<serving::HostAccount> account_;  // outlives the budget
  const std::shared_ptr<serving::Budget> budget_;        // outlives what is charged to it
  serving::Budget::HostShare programs_share_;            // for the programs of `core_`
  SessionCore core_;
  Outbox outbox_;
  AnswerOrder answers_;
  const std::shared_ptr<serving::SessionSignal> signal_ = std::make_shared<serving::SessionSignal>();
  serving::FailureLog refused_;           // calls that the router refused, not reported in an answer yet
  const std::uint64_t checks_every_;      // compare the members' replicas once in this many runs; 0: never
  std::vector<Status> unreported_;        // failures reported by members, not reported to the client yet
  std::atomic<bool> has_failed_ = false;  // a call failed since the groups were last known to be intact
  std::uint64_t calls_ = 0;
  std::chrono::nanoseconds queued_{0};  // the waiting time of the call that is performed next
  std::atomic<std::uint64_t> programs_ = 0, runs_ = 0;
  // Failures that reads have reported since the last sync: the other members report the same failures again. Used only
  // by the thread that delivers answers.
  struct Reported {
    std::string message;
    std::vector<int> reported_by;
  };
  std::vector<Reported> reported_;
  std::once_flag interrupted_;
  std::thread closer_;
};

}  // namespace burn::router
