// The order in which a device works for one session: everything that moves bytes or computes goes through a stream.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/failure.h"
#include "base/host_block.h"
#include "base/status.h"

namespace burn::backends {

// Device memory, freed with its last owner. Contents are immutable while more than one owner holds it. May outlive the
// stream that made it.
class Buffer {
 public:
  // What a session is charged for the memory, for as long as it is there.
  class Charge {
   public:
    virtual ~Charge() = default;

   private:
    friend class Buffer;
    std::unique_ptr<Charge> next_;
  };

  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  virtual ~Buffer() {
    while (charges_) charges_ = std::move(charges_->next_);  // one by one: there may be any number
  }
  virtual std::size_t size() const = 0;  // bytes, at least what was asked for

  // Ends with the buffer. From one thread at a time: that of the stream's calls.
  void keep(std::unique_ptr<Charge> charge) {
    charge->next_ = std::move(charges_);
    charges_ = std::move(charge);
  }

 private:
  std::unique_ptr<Charge> charges_;
};
using BufferPtr = std::shared_ptr<Buffer>;

using burn::Failure;
using burn::HostBlock;  // the holder's to write until Stream::upload() has it
using burn::HostBlockPtr;

class Groups;  // backends/collective/collective.h

struct RunArgs {
  std::vector<BufferPtr> inputs;           // one per program input, row-major; a donated one has no other owner
  std::vector<Failure> failures;           // one per input, or empty: where it is not null, there is no buffer
  std::span<const std::uint64_t> scalars;  // one per slot; read during the call only
  std::uint64_t seed = 0;
  std::uint64_t random_offset = 0;
  std::optional<std::uint64_t> program;  // what failures of this run call it: "program 7: gather: ..."
  std::uint64_t serial = 0;              // names the run to the FailureSink of failures that are found later
  // After which the run ends with DEADLINE_EXCEEDED, where the backend can end one; 0: never.
  std::chrono::milliseconds time_limit{0};
  const Groups* groups = nullptr;  // that the run's collectives are performed in; outlives the run. Null: none
};

// What a run made, or will have made.
struct RunResult {
  std::vector<BufferPtr> outputs;  // in order, row-major; one may share an input's buffer
  std::vector<Failure> failures;   // one per output, or empty: where it is not null, there is no buffer
  Failure refused;  // why a Commit came out false, if it is known yet: outputs that it guards are what they were before
  Status stopped;  // why the run ended early, all but what Commits guard failed: interrupted, no memory; ok: it did not
};

// What a run takes of the device's memory beside its inputs, in bytes.
struct RunBytes {
  // At one time, at most: values, outputs, arenas and work space that is known, less donated inputs that are done with.
  std::uint64_t peak = 0;
  // Of these, what the stream keeps after the run for later runs, which use it in turn: an arena.
  std::uint64_t kept = 0;
};

// A compiled program. Thread-safe: sessions share it, and their streams may run it at the same time.
class Executable {
 public:
  virtual ~Executable() = default;
  // Bytes that it holds for as long as it exists, roughly: what a cache of plans is bounded by.
  virtual std::size_t memory_bytes() const = 0;
  // Known before a run begins, so that a session is charged for it first. Zeros: outputs alone, as far as is known.
  virtual RunBytes run_bytes() const { return {}; }
};

// Told of the failures of runs that were not known when run() returned: each once, before anything that depends on it
// is answered. Called from any thread; must not block.
using FailureSink = std::function<void(std::uint64_t serial, const Failure& why)>;

// Calls come from one thread at a time, wait for nothing that the device does, and take effect in their order.
// Callbacks come from any thread, also from within the call, in the order of the calls, each exactly once; they must
// not block or call the stream. Buffers and executables are of the same backend, and buffers of this stream.
class Stream {
 public:
  using Downloaded = std::function<void(SharedBytes bytes, const Failure& failure)>;  // null: here are the bytes
  using Done = std::function<void(Status)>;

  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // Waits for what the device is at. What it has not begun is not done; its callbacks are told CANCELLED.
  virtual ~Stream() = default;

  // A buffer with these bytes, which are kept until they are there. Errors: RESOURCE_EXHAUSTED.
  virtual Result<BufferPtr> upload(SharedBytes bytes) = 0;
  // The same; of a block of this backend, nothing is copied that need not be.
  virtual Result<BufferPtr> upload(HostBlockPtr block) = 0;
  // The first `size` bytes, when everything before is done; the failure of whatever should have filled the buffer; or
  // INVALID_ARGUMENT where it has not so many. The bytes may outlive the stream.
  virtual void download(BufferPtr buffer, std::size_t size, Downloaded done) = 0;
  // A buffer of as many bytes with the same content, or the same failure. Errors: RESOURCE_EXHAUSTED.
  virtual Result<BufferPtr> clone(const BufferPtr& buffer) = 0;
  // Buffers at once, which may be filled later. A step that fails (RESOURCE_EXHAUSTED when memory is short,
  // OUT_OF_RANGE for an index outside its dim; both name the program, the op and its call site) fails the outputs that
  // are computed from it, as a failed input does, and no others. What is known at once is said in the result, what the
  // device finds out later to the FailureSink; the outputs fail, with the same Failure, in either case.
  // Where something fails that a Commit covers, the outputs that it guards are what they were (ir/ops/commit.h), which
  // is no failure of theirs: RunResult::refused says why, or the sink does. So are those of a run that ends early, if
  // they are kept_outputs() (plan/guards.h).
  // The executable is kept until the device is done with it.
  // Errors: arguments that do not fit the program, or exceptions; of a program without a Commit, why it ended early.
  virtual Result<RunResult> run(const std::shared_ptr<Executable>& executable, RunArgs args) = 0;
  // Done when everything before is.
  virtual void synchronize(Done done) = 0;
  // The same where no thread waits for it: it may be called a little later.
  virtual void observe(Done done) { synchronize(std::move(done)); }
  // From any thread: what is asked of the stream from now on may be refused with CANCELLED, and a run that is under way
  // ends so as soon as it can, within milliseconds where the host computes. For good.
  virtual void interrupt() {}
};

}  // namespace burn::backends
