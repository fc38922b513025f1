// The seam between what receives a client's frames and what has its tensors: a Session as it is served, with what a
// conversation needs beside its calls. Callbacks come in the order of the calls.
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
  // A tensor whose numbers are still on their way. Filled part by part, in order, by one thread at a time. Until every
  // byte has come whatever needs the tensor waits; destroying it before poisons the tensor with DATA_LOSS.
  class Upload {
   public:
    virtual ~Upload() = default;
    // Errors: OUT_OF_RANGE beyond the tensor, INVALID_ARGUMENT for a part out of order.
    virtual Status fill(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    // The same for bytes that the upload may keep instead of copying them.
    virtual Status fill_shared(std::uint64_t offset, const SharedBytes& bytes) { return fill(offset, bytes.span()); }
    // Where the next `size` bytes may be received, for fill() to find them there; null when they cannot.
    virtual std::shared_ptr<std::byte> destination(std::uint64_t offset, std::size_t size) = 0;
    virtual bool complete() const = 0;  // every byte has come; the tensor is ready from then on
  };
  // Takes its turn in the order like write(). Errors: RESOURCE_EXHAUSTED; the call still takes its turn, and poisons
  // the tensor.
  virtual Result<std::unique_ptr<Upload>> begin_upload(TensorId id, const ir::TensorType& type,
                                                       WriteOptions options = {}) = 0;

  // Takes a turn like define(), for a program as it came off the wire (proto::DefineProgram::encoded): it is read when
  // its turn comes, by the thread that executes the session's calls, and at the session's cost. What cannot be read is
  // a program that is refused. Errors besides those of any call: RESOURCE_EXHAUSTED, more waits than a session may have
  // waiting.
  virtual Status define_encoded(ProgramId id, SharedBytes program, std::vector<ProgramId> forget) = 0;
  // Bytes of uploads that fill() has taken and the session has not passed on yet, where it passes them on to another
  // process. The client gets credit for as many less. on_upload_progress() is called when they have become fewer, from
  // any thread and without a lock. Set it before the first call.
  virtual std::uint64_t upload_backlog() const { return 0; }
  // NOLINTNEXTLINE(performance-unnecessary-value-param): sessions that have this keep it
  virtual void on_upload_progress(std::function<void()> /*callback*/) {}

  // Called from the executor with the number of ordered calls executed so far, which the device may yet have to do
  // (docs/adr/013): every kProgressBatch calls, and when there has been nothing to do for a while; after a call that
  // its caller executes, at once. Set it before the first call.
  static constexpr std::uint64_t kProgressBatch = 32;
  virtual void on_progress(std::function<void(std::uint64_t executed)> callback) = 0;

  // Called once, from any thread and without a lock, when the session ends by itself, with why: calls that wait are
  // never executed, and the client, which may be waiting for its window, has to be told. At once if it has ended. Not
  // called after begin_close() has returned, unless that call is under way. Set it before the first call.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): sessions that have this keep it
  virtual void on_end(std::function<void(const Status& why)> /*callback*/) {}

  // close() without waiting: the executor stops after the call it is at and frees everything. From any thread.
  virtual void begin_close() = 0;

  // What is known at once, from any thread; also of a session that is closed.
  virtual SessionStats stats() const = 0;
  void stats(const StatsCallback& done) override {
    auto health = this->health();
    health.ok() ? done(stats()) : done(std::move(health));
  }
};

}  // namespace burn::proto
