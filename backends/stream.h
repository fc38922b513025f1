// A stream is the order in which a device works for one session: everything that moves bytes or computes is a call on
// it.
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
  // What a session is charged for the memory; destroyed with the buffer.
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
    while (charges_) charges_ = std::move(charges_->next_);  // iteratively: there may be any number
  }
  virtual std::size_t size() const = 0;  // bytes, at least as many as were asked for

  // Keeps the charge until the buffer is destroyed. Called by one thread at a time: the thread of the stream's calls.
  void keep(std::unique_ptr<Charge> charge) {
    charge->next_ = std::move(charges_);
    charges_ = std::move(charge);
  }

 private:
  std::unique_ptr<Charge> charges_;
};
using BufferPtr = std::shared_ptr<Buffer>;

using burn::Failure;
using burn::HostBlock;  // writable by its holder until it is passed to Stream::upload()
using burn::HostBlockPtr;

class Groups;  // backends/collective/collective.h

struct RunArgs {
  std::vector<BufferPtr> inputs;           // one per program input, row-major; a donated one has no other owner
  std::vector<Failure> failures;           // one per input, or empty; an input whose failure is not null has no buffer
  std::span<const std::uint64_t> scalars;  // one per slot; read during the call only
  std::uint64_t seed = 0;
  std::uint64_t random_offset = 0;
  std::optional<std::uint64_t> program;  // number that failures of this run name: "program 7: gather: ..."
  std::uint64_t serial = 0;              // identifies the run to the FailureSink if failures are found later
  // The run ends with DEADLINE_EXCEEDED after this time, if the backend can end one; 0: no limit.
  std::chrono::milliseconds time_limit{0};
  const Groups* groups = nullptr;  // in which the run's collectives are performed; must outlive the run. Null: none
};

// The results of a run. The device may fill them later.
struct RunResult {
  std::vector<BufferPtr> outputs;  // in order, row-major; one may share an input's buffer
  std::vector<Failure> failures;   // one per output, or empty; an output whose failure is not null has no buffer
  Failure refused;  // why a Commit came out false, if it is known yet: the outputs that it guards are unchanged
  Status stopped;   // ok, or why the run ended early (interrupted, no memory) and outputs that no Commit guards failed
};

// The device memory that a run needs besides its inputs, in bytes.
struct RunBytes {
  // Maximum at one time: values, outputs, arenas and known work space, less donated inputs that are no longer needed.
  std::uint64_t peak = 0;
  // The part of it that the stream keeps after the run, for later runs to use in turn: an arena.
  std::uint64_t kept = 0;
};

// A compiled program. Thread-safe: sessions share it, and their streams may run it at the same time.
class Executable {
 public:
  virtual ~Executable() = default;
  // Bytes that it holds while it exists, roughly; limits the size of a cache of plans.
  virtual std::size_t memory_bytes() const = 0;
  // Known before a run begins, so that a session is charged for it first. Zeros: nothing but the outputs is known.
  virtual RunBytes run_bytes() const { return {}; }
};

// Called with failures of runs that were not known when run() returned: once for each, before anything that depends on
// it is answered. Called from any thread; must not block.
using FailureSink = std::function<void(std::uint64_t serial, const Failure& why)>;

// Calls are made by one thread at a time, do not wait for the device, and take effect in order. Callbacks are called on
// any thread, also from within the call, in the order of the calls, each exactly once; they must not block or call the
// stream. Buffers and executables must be of the same backend, and buffers of this stream.
class Stream {
 public:
  using Downloaded = std::function<void(SharedBytes bytes, const Failure& failure)>;  // null failure: `bytes` are valid
  using Done = std::function<void(Status)>;

  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  // Waits for what the device is executing. Work that has not begun is dropped, and its callbacks receive CANCELLED.
  virtual ~Stream() = default;

  // Returns a buffer for these bytes, which are kept alive until they are uploaded. Errors: RESOURCE_EXHAUSTED.
  virtual Result<BufferPtr> upload(SharedBytes bytes) = 0;
  // The same; the bytes of a block of this backend are not copied more than necessary.
  virtual Result<BufferPtr> upload(HostBlockPtr block) = 0;
  // Passes on the first `size` bytes when all earlier calls are done; or the failure of the call that should have
  // filled the buffer; or INVALID_ARGUMENT if the buffer is smaller. The bytes may outlive the stream.
  virtual void download(BufferPtr buffer, std::size_t size, Downloaded done) = 0;
  // Returns a buffer of the same size with the same content, or the same failure. Errors: RESOURCE_EXHAUSTED.
  virtual Result<BufferPtr> clone(const BufferPtr& buffer) = 0;
  // Returns buffers at once, which may be filled later. A step that fails (RESOURCE_EXHAUSTED when memory is short,
  // OUT_OF_RANGE for an index outside its dim; both name the program, the op and its call site) fails the outputs that
  // are computed from it, as a failed input does, and no others. Failures that are known at once are in the result;
  // those that the device finds later are passed to the FailureSink. Either way the outputs fail with the same Failure.
  // If something fails that a Commit covers, the outputs that it guards keep their old values (ir/ops/commit.h) and do
  // not fail: RunResult::refused, or the sink, has the reason. The outputs of a run that ends early keep theirs if they
  // are kept_outputs() (plan/guards.h).
  // The executable is kept alive until the device is done with it.
  // Errors: arguments that do not fit the program, or exceptions; for a program without a Commit, why it ended early.
  virtual Result<RunResult> run(const std::shared_ptr<Executable>& executable, RunArgs args) = 0;
  // Calls `done` when all earlier calls are done.
  virtual void synchronize(Done done) = 0;
  // The same, if no thread waits for it: it may be called a little later.
  virtual void observe(Done done) { synchronize(std::move(done)); }
  // May be called from any thread, and is permanent: later calls may be refused with CANCELLED, and a run in progress
  // ends with it as soon as it can, within milliseconds if the host computes.
  virtual void interrupt() {}
};

}  // namespace burn::backends
