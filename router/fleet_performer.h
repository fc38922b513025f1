// Performs the calls of one client's session on several workers: what SessionCore says, sent and answered.
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
  void wait_was(std::chrono::nanoseconds time) override { queued_ = time; }
  void perform(serving::Call& call) override;
  void prepare_ahead(serving::Call& /*call*/) override {}  // members prepare
  void prepare_run(proto::ProgramId /*program*/) override {}
  bool is_quick(const serving::Call& /*call*/) const override { return false; }  // a member may make it wait
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
  void finish_call(Failure refused);  // what is to be sent is sent; a refusal is noted
  void check_replicas(const proto::Run& run);
  void refuse(serving::Call& call, const Status& why);
  Status answer_of(const Status& status);
  void answer_read(std::uint64_t question, const proto::Session::ReadCallback& done, Result<proto::HostTensor> result,
                   std::vector<int> told_by = {});

  proto::SessionInfo info_;
  const serving::Quotas quotas_;
  const std::chrono::milliseconds group_timeout_;
  const std::shared_ptr<FleetTimes> times_;
  const std::shared_ptr<SpanSink> spans_;
  const int home_;  // the member on which the session lives until a batch comes
  Members members_;
  const std::shared_ptr<serving::HostAccount> account_;  // outlives the budget
  const std::shared_ptr<serving::Budget> budget_;        // outlives what is charged to it
  serving::Budget::HostShare programs_share_;            // of the programs of `core_`
  SessionCore core_;
  Outbox outbox_;
  AnswerOrder answers_;
  const std::shared_ptr<serving::SessionSignal> signal_ = std::make_shared<serving::SessionSignal>();
  serving::FailureLog refused_;           // by the router, that no answer has told of yet
  const std::uint64_t checks_every_;      // so many runs the members' replicas are compared; 0: never
  std::vector<Status> carried_;           // failures that members have told the router, and no answer yet
  std::atomic<bool> has_failed_ = false;  // since the group was last known to stand
  std::uint64_t calls_ = 0;
  std::chrono::nanoseconds queued_{0};  // of the call that is performed next
  std::atomic<std::uint64_t> programs_ = 0, runs_ = 0;
  // Failures that reads have reported since the last sync: other members than those that told them tell them again. Of
  // the thread that gives answers.
  struct Reported {
    std::string message;
    std::vector<int> told_by;
  };
  std::vector<Reported> reported_;
  std::once_flag interrupted_;
  std::thread closer_;
};

}  // namespace burn::router
