// What performs the calls of one session: it has the tensors, or knows where they are. A QueuedSession gives it the
// calls in their order.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "proto/session.h"
#include "serving/budget.h"
#include "serving/calls.h"

namespace burn::serving {

// One thread at a time calls it, unless it says otherwise.
class CallPerformer {
 public:
  CallPerformer() = default;
  CallPerformer(const CallPerformer&) = delete;
  CallPerformer& operator=(const CallPerformer&) = delete;
  virtual ~CallPerformer() = default;

  // These three from any thread, and constant.
  virtual const proto::SessionInfo& info() const = 0;
  virtual proto::SessionTraits traits() const = 0;
  // Why there is no session: then nothing is performed. Ok: there is one.
  virtual Status health() const = 0;

  // What calls that wait are charged to. From any thread; lives as long as this.
  virtual Budget& budget() = 0;
  // Room for a tensor that comes in parts. Errors: RESOURCE_EXHAUSTED, as `failed` of the result. From any thread.
  virtual WriteCall::Parts receive(proto::TensorId id, const ir::TensorType& type) = 0;
  // All but `queued`. From any thread.
  virtual proto::SessionStats stats() const = 0;
  // The same, with what has to be asked for first. From any thread; `done` is called once, perhaps within the call.
  virtual void ask_stats(const proto::Session::StatsCallback& done) { done(stats()); }

  // The session's groups; from any thread, until finish() has returned. Callbacks come from within a CallbackScope of
  // this.
  virtual void prepare_group(const proto::GroupPlace& place, const proto::Session::AddressCallback& done) {
    (void)place;
    done(unimplemented("this session forms no groups"));
  }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): what forms groups keeps them
  virtual void open_group(const proto::GroupPlace& place, std::vector<std::string> addresses,
                          std::chrono::milliseconds deadline, const proto::Session::SyncCallback& done) {
    (void)place, (void)addresses, (void)deadline;
    done(unimplemented("this session forms no groups"));
  }
  virtual void abort_group(std::uint32_t group, std::uint64_t epoch, const Status& why) {
    (void)group, (void)epoch, (void)why;
  }

  // How long the call that perform() is given next has waited for its turn. Not said of a call that has not waited.
  virtual void wait_was(std::chrono::nanoseconds time) { (void)time; }
  // Does what the call says, and says so by the call's callback, from within a CallbackScope of this. Errors are the
  // session's own (its next sync tells), never thrown.
  virtual void perform(Call& call) = 0;
  // The call has to wait for its turn: what it will need may begin on another thread, and ends before this does.
  virtual void prepare_ahead(Call& call) = 0;
  // A run of this program waits for its turn.
  virtual void prepare_run(proto::ProgramId program) = 0;
  // Whether the call would be over at once, as far as the last such call tells: then its caller may perform it.
  virtual bool is_quick(const Call& call) const = 0;
  // Whether the last run computed for long.
  virtual bool ran_long() const = 0;

  // From any thread: the session ends; a call that is under way ends as soon as it can.
  virtual void interrupt() = 0;
  // No call follows. First what is under way is answered; then everything is freed.
  virtual void finish() = 0;
  virtual void clear() = 0;
};

}  // namespace burn::serving
