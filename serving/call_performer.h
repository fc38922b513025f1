// Performs the calls of one session, which a QueuedSession passes to it in order. It has the tensors, or knows where
// they are.
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

// Called by one thread at a time, except for functions marked otherwise.
class CallPerformer {
 public:
  CallPerformer() = default;
  CallPerformer(const CallPerformer&) = delete;
  CallPerformer& operator=(const CallPerformer&) = delete;
  virtual ~CallPerformer() = default;

  // These three: from any thread, and their results never change.
  virtual const proto::SessionInfo& info() const = 0;
  virtual proto::SessionTraits traits() const = 0;
  // Ok, or why the session could not be made: then no call is performed.
  virtual Status health() const = 0;

  // The budget that waiting calls are charged to. From any thread; lives as long as this.
  virtual Budget& budget() = 0;
  // Allocates memory for a tensor that is received in parts. Errors: RESOURCE_EXHAUSTED, as `failed` of the result.
  // From any thread.
  virtual WriteCall::Parts receive(proto::TensorId id, const ir::TensorType& type) = 0;
  // Everything except `queued`. From any thread.
  virtual proto::SessionStats stats() const = 0;
  // The same, including statistics that must be requested from others. From any thread; `done` is called once, possibly
  // within the call.
  virtual void ask_stats(const proto::Session::StatsCallback& done) { done(stats()); }

  // The session's groups; from any thread, until finish() has returned. Callbacks are called within a CallbackScope of
  // this.
  virtual void prepare_group(const proto::GroupPlace& place, const proto::Session::AddressCallback& done) {
    (void)place;
    done(unimplemented("this session forms no groups"));
  }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): overrides keep them
  virtual void open_group(const proto::GroupPlace& place, std::vector<std::string> addresses,
                          std::chrono::milliseconds deadline, const proto::Session::SyncCallback& done) {
    (void)place, (void)addresses, (void)deadline;
    done(unimplemented("this session forms no groups"));
  }
  virtual void abort_group(std::uint32_t group, std::uint64_t epoch, const Status& why) {
    (void)group, (void)epoch, (void)why;
  }

  // Sets how long the call passed to the next perform() waited in the queue. Not called for a call that did not wait.
  virtual void set_queue_time(std::chrono::nanoseconds time) { (void)time; }
  // Performs the call and calls its callback, within a CallbackScope of this. Errors are recorded for the session's
  // next sync, never thrown.
  virtual void perform(Call& call) = 0;
  // Called for a call that must wait: may start preparing it on another thread, which ends before this is destroyed.
  virtual void prepare_ahead(Call& call) = 0;
  // Called when a run of this program is waiting.
  virtual void prepare_run(proto::ProgramId program) = 0;
  // Whether the call will probably take only microseconds, judging by the last such call: then its caller may perform
  // it.
  virtual bool is_quick(const Call& call) const = 0;
  // Whether the last run took long to compute.
  virtual bool ran_long() const = 0;

  // From any thread: the session ends; a running call ends as soon as it can.
  virtual void interrupt() = 0;
  // No call follows. finish() first answers pending calls; clear() then frees everything.
  virtual void finish() = 0;
  virtual void clear() = 0;
};

}  // namespace burn::serving
