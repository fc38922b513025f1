// A Session in this process: one executor thread owns its tensors and runs its programs in order, on a Worker that
// several sessions share. burn-server puts one behind each connection; burn::local hands it to the client directly.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "backends/backend.h"
#include "base/status.h"
#include "proto/session.h"
#include "session/housekeeper.h"

namespace burn::session {

// What one session may hold at most; beyond it the call fails with RESOURCE_EXHAUSTED, and the session lives.
struct Quotas {
  std::uint64_t tensor_bytes = std::uint64_t{1} << 40;
  std::uint64_t tensors = 1 << 20;
  std::uint64_t programs = 1 << 16;
  std::uint64_t program_entries = 1 << 22;  // nodes, inputs and operands of all its programs
  std::uint64_t in_flight = 1024;           // ordered calls waiting; one more blocks its caller
  // Bytes of tensors waiting to be written; a write() of more blocks its caller, if any wait. Counts as at least what
  // in_flight small tensors may have (proto::kInlineBytes each): a connection does not wait for those.
  std::uint64_t waiting_bytes = std::uint64_t{256} << 20;
};

// How many compiled programs a worker keeps, and how many bytes of them and their programs together.
struct PlanCapacity {
  std::size_t plans = 4096;
  std::size_t bytes = std::size_t{128} << 20;
};

class Plan;

// A device and what sessions on it have in common: the backend and the bounded cache of compiled programs. Thread-safe.
class Worker {
 public:
  // Memory that lies idle goes back to the system as `idle` says; `plans` bounds the compiled programs that are kept.
  static std::shared_ptr<Worker> create(std::unique_ptr<backends::Backend> backend, const IdleMemory& idle = {},
                                        const PlanCapacity& plans = {});
  virtual ~Worker() = default;
  virtual backends::Backend& backend() = 0;
  // The compiled program, from the cache when its hash is there.
  virtual Result<std::shared_ptr<Plan>> compile(const std::shared_ptr<const ir::Program>& program) = 0;

  struct Stats {
    std::uint64_t plans = 0, plan_bytes = 0, plan_hits = 0, plan_misses = 0;
    std::uint64_t runs = 0, sessions = 0;
  };
  virtual Stats stats() const = 0;

  // For sessions: what stats() counts.
  virtual void count_session(int change) = 0;
  virtual void count_run() = 0;
};

// Callbacks come in the order of the calls.
class LocalSession : public proto::Session {
 public:
  // A tensor whose numbers are still on their way. Filled part by part, in order, by one thread at a time. Until every
  // byte has come whatever needs the tensor waits; destroying it before poisons the tensor with DATA_LOSS.
  class Upload {
   public:
    virtual ~Upload() = default;
    // Errors: OUT_OF_RANGE beyond the tensor, INVALID_ARGUMENT for a part out of order.
    virtual Status fill(std::uint64_t offset, std::span<const std::byte> bytes) = 0;
    // Where the next `size` bytes may be received, for fill() to find them there; null when they cannot.
    virtual std::shared_ptr<std::byte> place(std::uint64_t offset, std::size_t size) = 0;
    virtual bool complete() const = 0;  // every byte has come; the tensor is ready from then on
  };
  // Takes its turn in the order like write(). Errors: RESOURCE_EXHAUSTED; the call still takes its turn, and poisons
  // the tensor.
  virtual Result<std::unique_ptr<Upload>> begin_upload(proto::TensorId id, const ir::TensorType& type) = 0;

  // Takes a turn like define(), for a program that could not even be read: its runs fail with `why`, and so do their
  // outputs.
  virtual Status define_invalid(proto::ProgramId id, std::size_t output_count, Status why,
                                std::vector<proto::ProgramId> forget) = 0;

  // Called from the executor with the number of ordered calls executed so far, which the device may yet have to do
  // (docs/adr/013): every kProgressBatch calls, and when there is nothing left to do. Set it before the first call.
  static constexpr std::uint64_t kProgressBatch = 32;
  virtual void on_progress(std::function<void(std::uint64_t executed)> callback) = 0;

  // Waits for the call that is being executed; the next is not begun before another is made. For the end of the
  // process.
  virtual void pause() = 0;

  // close() without waiting: the executor stops after the call it is at and frees everything. From any thread.
  virtual void begin_close() = 0;

  struct Stats {
    std::uint64_t programs = 0, runs = 0;
    std::uint64_t bytes = 0, peak_bytes = 0;  // of tensors, as their types say
  };
  virtual Stats stats() const = 0;
};

// Who executes a call: the session's thread, or the caller's if nothing is waiting and the call is a matter of
// microseconds, which saves waking the other. Then callbacks come from within the call.
enum class Execution { on_its_thread, by_quick_callers };

std::unique_ptr<LocalSession> make_local_session(std::shared_ptr<Worker> worker, const Quotas& quotas = {},
                                                 Execution execution = Execution::on_its_thread);

}  // namespace burn::session
