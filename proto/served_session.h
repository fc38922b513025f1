// The server's side of a session: the interface between the code that receives a client's frames and the code that has
// its tensors. Callbacks are called in the order of the calls.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "proto/session.h"

namespace burn::proto {

class ServedSession : public Session {
 public:
  // A tensor whose bytes are still being received. Filled part by part, in order, by one thread at a time. Calls that
  // need the tensor wait until it is complete; destroying the Upload before poisons the tensor with DATA_LOSS.
  class Upload {
   public:
    virtual ~Upload() = default;
    // Errors: OUT_OF_RANGE beyond the tensor, INVALID_ARGUMENT for a part out of order.
    virtual Status fill(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    // The same for bytes that the upload may share instead of copying.
    virtual Status fill_shared(std::uint64_t offset, const SharedBytes& bytes) { return fill(offset, bytes.span()); }
    // Memory to receive the next `size` bytes in, so that fill() need not copy them; null if there is none.
    virtual std::shared_ptr<std::byte> destination(std::uint64_t offset, std::size_t size) = 0;
    virtual bool complete() const = 0;  // every byte is received; the tensor is ready
  };
  // An ordered call like write(). Errors: RESOURCE_EXHAUSTED; the call keeps its place in the order and poisons the
  // tensor.
  virtual Result<std::unique_ptr<Upload>> begin_upload(TensorId id, const ir::TensorType& type,
                                                       WriteOptions options = {}) = 0;

  // An ordered call like define(), for an encoded program (proto::DefineProgram::encoded). It is decoded in its turn,
  // by the thread that executes the session's calls, and at the session's cost. A program that cannot be decoded is
  // refused. Errors in addition to those of any call: RESOURCE_EXHAUSTED if too many bytes wait.
  virtual Status define_encoded(ProgramId id, SharedBytes program, std::vector<ProgramId> forget) = 0;
  // For sessions that forward uploads to another process: bytes that fill() has accepted and that are not forwarded
  // yet. The client's credit is reduced by them. The callback of on_upload_progress() is called when they become fewer,
  // from any thread and without a lock. Set it before the first call.
  virtual std::uint64_t upload_backlog() const { return 0; }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): sessions that have this keep it
  virtual void on_upload_progress(std::function<void()> /*callback*/) {}

  // Called by the executor with the number of ordered calls executed so far, whose work the device may not have
  // finished (docs/adr/013): every kProgressBatch calls, and after a short idle time; after a call that its caller
  // executes, at once. Set it before the first call.
  static constexpr std::uint64_t kProgressBatch = 32;
  virtual void on_progress(std::function<void(std::uint64_t executed)> callback) = 0;

  // Called once with the reason, from any thread and without a lock, when the session ends by itself: waiting calls are
  // then never executed, and the client, which may wait for its window, must be told. Called at once if the session has
  // already ended. Not called after begin_close() has returned, except for a call that is already running. Set it
  // before the first call. NOLINTNEXTLINE(performance-unnecessary-value-param): sessions that have this keep it
  virtual void on_end(std::function<void(const Status& why)> /*callback*/) {}

  // close() without waiting: the executor stops after the current call and frees everything. From any thread.
  virtual void begin_close() = 0;

  // Returns without waiting, from any thread, also for a closed session.
  virtual SessionStats stats() const = 0;
  void stats(const StatsCallback& done) override {
    auto health = this->health();
    health.ok() ? done(stats()) : done(std::move(health));
  }
};

}  // namespace burn::proto
