// A session's stream on its device, with the failures on it in order, and a limit on how far the session may be ahead
// of the device.
//
// Used by the executor, except for functions marked otherwise. Answers are given in the order of the calls, even if one
// is known at once; on an asynchronous device, on its threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "backends/backend.h"
#include "proto/session.h"
#include "serving/failure_log.h"
#include "serving/fair_gate.h"
#include "serving/signal.h"

namespace burn::session {

class SessionStream {
 public:
  // How far a session may be ahead: calls that the device has not done, and bytes of uploads among them, which need
  // host memory until then. Enough for the device never to idle between two programs.
  static constexpr std::uint64_t kMaxCalls = 64;
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;

  // `backend` must outlive it; `session`: for the CallbackScope of callbacks.
  SessionStream(backends::Backend& backend, std::shared_ptr<serving::SessionSignal> signal, const void* session);
  ~SessionStream() { close(); }
  SessionStream(const SessionStream&) = delete;
  SessionStream& operator=(const SessionStream&) = delete;

  const Status& status() const { return status_; }  // not ok: no stream, call no other function

  Result<backends::BufferPtr> upload(SharedBytes bytes);
  Result<backends::BufferPtr> upload(backends::HostBlockPtr block);
  Result<backends::BufferPtr> clone(const backends::BufferPtr& buffer);
  // Records failures, except those of inputs. `keeps`: outputs of the program are guarded by a Commit, so that its
  // failures may not poison any of them.
  Result<backends::RunResult> run(const std::shared_ptr<backends::Executable>& executable, backends::RunArgs args,
                                  bool keeps);

  // Answers. A failure that a read returns counts as reported; a sync gets the first earlier one that was not reported.
  // The failure of a run that kept the values of guarded outputs is reported by the next read of any tensor, or the
  // next sync.
  void read(backends::BufferPtr buffer, const ir::TensorType& type, proto::Session::ReadCallback done);
  void refuse(Failure why, proto::Session::ReadCallback done);
  void sync(proto::Session::SyncCallback done);

  // Makes runs wait for their turn at the gate, which must outlive the stream. set_waits(false): the runs of the
  // current call do not wait, because its caller executes it, or because its run may wait for other workers.
  void wait_at(serving::FairGate& gate, std::shared_ptr<serving::TenantAccount> tenant);
  void set_waits(bool waits) { waits_for_turn_ = waits; }
  // Time that runs have waited at the gate so far.
  std::chrono::nanoseconds waited_for_turns() const { return waited_for_turns_; }

  // Sets a function that is called for each RESOURCE_EXHAUSTED failure that is not of a run's inputs, from any thread.
  void on_exhausted(std::function<void()> told) { on_exhausted_ = std::move(told); }

  // Records a failure for the next sync and, if `hidden` (FailureLog), for the next read. Ok is not recorded.
  Failure note(Status status, bool hidden = false);

  // Whether the device is so far behind that the next call must wait.
  bool is_behind() const;
  // Waits until it is not, or the session closes.
  void wait_for_device();

  // Waits for the device's current work, and answers remaining calls with CANCELLED. Idempotent.
  void close();
  // From any thread: a running run ends as soon as it can, and later ones may be refused.
  void interrupt();

 private:
  struct Position {
    std::uint64_t calls = 0, bytes = 0;
  };
  serving::FairGate::Turn take_turn();
  void count(std::uint64_t bytes = 0);  // counts a call without a callback
  Position cover();                     // counts a call with a callback, which reports progress
  void reach(const Position& position);
  void record(std::uint64_t serial, const Failure& why, bool hidden);

  const std::shared_ptr<serving::SessionSignal> signal_;
  const void* const session_;
  serving::FailureLog log_;
  std::function<void()> on_exhausted_;
  std::uint64_t serial_ = 0;  // twice the number of the last run or failure, plus one if its failures are hidden
  std::uint64_t next_serial(bool hidden) { return serial_ = (serial_ | 1) + (hidden ? 2 : 1); }
  // Submitted to the stream; covered by pending callbacks; done by the device.
  Position given_, covered_;
  std::atomic<std::uint64_t> done_calls_ = 0, done_bytes_ = 0;
  std::atomic<bool> waiting_ = false;
  Status status_;
  serving::FairGate* gate_ = nullptr;
  std::optional<serving::FairGate::Place> place_;
  bool waits_for_turn_ = true;
  std::chrono::nanoseconds waited_for_turns_{0};
  std::mutex ending_;                         // held while the stream is closed or interrupted
  std::unique_ptr<backends::Stream> stream_;  // last, as its callbacks use all of the above
};

}  // namespace burn::session
