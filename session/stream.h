// What a session has of its device: a stream, the failures on it in their order, and a bound on how far the session may
// be ahead of the device.
//
// Of the executor, except where it says otherwise. Answers come in the order of the calls, also those that are known at
// once; on a device that works on its own, from its threads.
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
  // How far a session may be ahead: calls that the device has not done, and bytes of uploads among them, which take
  // host memory until they are. Enough for a device never to run dry between two programs.
  static constexpr std::uint64_t kMaxCalls = 64;
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;

  // `backend` outlives it; `session`: of the CallbackScope of callbacks.
  SessionStream(backends::Backend& backend, std::shared_ptr<serving::SessionSignal> signal, const void* session);
  ~SessionStream() { close(); }
  SessionStream(const SessionStream&) = delete;
  SessionStream& operator=(const SessionStream&) = delete;

  const Status& status() const { return status_; }  // why there is no stream: then nothing else may be called

  Result<backends::BufferPtr> upload(SharedBytes bytes);
  Result<backends::BufferPtr> upload(backends::HostBlockPtr block);
  Result<backends::BufferPtr> clone(const backends::BufferPtr& buffer);
  // Notes the failures that are not those of inputs. `keeps`: outputs of the program are guarded by a Commit, so that
  // its failures may not be seen in any of them.
  Result<backends::RunResult> run(const std::shared_ptr<backends::Executable>& executable, backends::RunArgs args,
                                  bool keeps);

  // Answers. A failure that is read is reported; a sync is told the first one before it that was not. A run that failed
  // and kept what it was to replace is reported by the next read of anything, or the next sync.
  void read(backends::BufferPtr buffer, const ir::TensorType& type, proto::Session::ReadCallback done);
  void refuse(Failure why, proto::Session::ReadCallback done);
  void sync(proto::Session::SyncCallback done);

  // Runs wait for their turn there from now on; false: of this call, whose caller has other things to do, or whose run
  // waits for others on other workers, they do not. The gate outlives the stream.
  void wait_at(serving::FairGate& gate, std::shared_ptr<serving::TenantAccount> tenant);
  void set_waits(bool waits) { waits_for_turn_ = waits; }
  // How long the runs so far have waited there.
  std::chrono::nanoseconds waited_for_turns() const { return waited_for_turns_; }

  // From now on called for each failure that is RESOURCE_EXHAUSTED and was not one of a run's inputs, from any thread.
  void on_exhausted(std::function<void()> told) { on_exhausted_ = std::move(told); }

  // Keeps a failure for the next sync and, where it is `hidden` (FailureLog), for the next read. Ok is none.
  Failure note(Status status, bool hidden = false);

  // Whether the device is so far behind that the next call has to wait.
  bool is_behind() const;
  // Until it is not, or the session closes.
  void wait_for_device();

  // Waits for what the device is at, and answers what is left with CANCELLED. Idempotent.
  void close();
  // From any thread: a run that is under way ends as soon as it can, and what follows may be refused.
  void interrupt();

 private:
  struct Position {
    std::uint64_t calls = 0, bytes = 0;
  };
  serving::FairGate::Turn take_turn();
  void count(std::uint64_t bytes = 0);  // a call that has no callback
  Position cover();                     // counts one that has
  void reach(const Position& position);
  void record(std::uint64_t serial, const Failure& why, bool hidden);

  const std::shared_ptr<serving::SessionSignal> signal_;
  const void* const session_;
  serving::FailureLog log_;
  std::function<void()> on_exhausted_;
  std::uint64_t serial_ = 0;  // of the last run or failure, times two; odd of a run whose failures are hidden
  std::uint64_t next_serial(bool hidden) { return serial_ = (serial_ | 1) + (hidden ? 2 : 1); }
  // What was given to the stream, what is covered by callbacks to come, and what is done.
  Position given_, covered_;
  std::atomic<std::uint64_t> done_calls_ = 0, done_bytes_ = 0;
  std::atomic<bool> waiting_ = false;
  Status status_;
  serving::FairGate* gate_ = nullptr;
  std::optional<serving::FairGate::Place> place_;
  bool waits_for_turn_ = true;
  std::chrono::nanoseconds waited_for_turns_{0};
  std::mutex ending_;                         // held while the stream ends or is interrupted
  std::unique_ptr<backends::Stream> stream_;  // its callbacks use all of the above
};

}  // namespace burn::session
