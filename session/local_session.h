// A Session in this process: one executor thread owns its tensors and runs its programs in order, on a Worker that
// several sessions share. burn-server puts one behind each connection; burn::local hands it to the client directly.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "backends/backend.h"
#include "base/status.h"
#include "proto/served_session.h"
#include "session/housekeeper.h"

namespace burn::session {

// What one session may hold at most; beyond it the call fails with RESOURCE_EXHAUSTED, and the session lives.
struct Quotas {
  std::uint64_t tensor_bytes = std::uint64_t{1} << 40;
  std::uint64_t tensors = 1 << 20;
  std::uint64_t programs = 1 << 16;
  std::uint64_t program_entries = 1 << 22;              // nodes, inputs and operands of all its programs
  std::uint64_t in_flight = 1024;                       // ordered calls waiting; one more blocks its caller
  std::uint64_t queue_bytes = std::uint64_t{64} << 20;  // of calls waiting, beside what is to be written
  // What one run may compute, as ir::estimated_work() has it: a program beyond it is refused. The default takes a core
  // most of a day.
  double program_work = 0x1p46;
  // After which a run ends with DEADLINE_EXCEEDED, where the device can end one or leave it behind (not on GPUs); 0:
  // never.
  std::chrono::milliseconds run_timeout{0};
  // Bytes of tensors waiting to be written; a write() of more blocks its caller, if any wait. Counts as at least what
  // in_flight small tensors may have (proto::kInlineBytes each): a connection does not wait for those.
  std::uint64_t waiting_bytes = std::uint64_t{256} << 20;
};

// How many compiled programs a worker keeps, and how many bytes of them and their programs together.
struct PlanCapacity {
  // A gigabyte, or less where there is little memory (worker.cc).
  static constexpr std::size_t kByMemory = ~std::size_t{0};

  std::size_t plans = 4096;
  std::size_t bytes = kByMemory;
};

class Plan;

// A device and what sessions on it have in common: the backend and the bounded cache of compiled programs. Thread-safe.
class Worker {
 public:
  // Memory that lies idle goes back to the system as `idle` says; `plans` bounds the compiled programs that are kept.
  // Without sessions the plans are of what `idle` lets the worker keep: half of it at most, those that were used last.
  static std::shared_ptr<Worker> create(std::unique_ptr<backends::Backend> backend, const IdleMemory& idle = {},
                                        const PlanCapacity& plans = {});
  virtual ~Worker() = default;
  virtual backends::Backend& backend() = 0;
  // The compiled program, from the cache when its hash is there.
  virtual Result<std::shared_ptr<Plan>> compile(const std::shared_ptr<const ir::Program>& program) = 0;

  struct Stats {
    std::uint64_t plans = 0, plan_bytes = 0, plan_hits = 0, plan_misses = 0;
    std::uint64_t runs = 0, sessions = 0;
    // Of the device, all sessions' buffers.
    std::uint64_t memory_limit = 0, memory_in_use = 0, memory_reserved = 0, memory_peak = 0;
    std::chrono::nanoseconds busy{0};    // all sessions' executors, compiling and running programs
    std::uint64_t host_bytes = 0;        // counted beside buffers: calls that wait, programs, plans, tables
    std::uint64_t runs_interrupted = 0;  // by their session's end or for their time
    // Of these in all of the process (backends/apart.h): those that still compute, and how many have been left so.
    std::uint64_t runs_left_behind = 0, runs_left_behind_so_far = 0;
    std::uint64_t programs_refused = 0;  // they could not be read, were too large, or did not compile
  };
  virtual Stats stats() const = 0;

  // For sessions: what stats() counts.
  virtual void count_session(int change) = 0;
  virtual void count_run() = 0;
  virtual void count_busy(std::chrono::nanoseconds time) = 0;
  virtual void count_interrupted_run() = 0;
  virtual void count_refused_program() = 0;
};

class LocalSession : public proto::ServedSession {
 public:
  // For the end of the process, by the thread that ends it.
  //
  // Waits for the call that is being executed. Of those that follow, only what this thread calls is executed, and what
  // was called before that; all of them after two seconds, as a destructor may be waiting for another thread.
  virtual void pause() = 0;
  // begin_close(), but other threads get no error: what they call is forgotten, and what they ask, or have asked, is
  // answered ten seconds later. By then the process has ended, which an exception thrown there would abort.
  virtual void begin_stop() = 0;
  virtual void stop() = 0;  // begin_stop() once more, and waits until nothing is executed
};

// Who executes a call: the session's thread, or the caller's if nothing is waiting and the call is a matter of
// microseconds, which saves waking the other. Then callbacks come from within the call.
enum class Execution { on_its_thread, by_quick_callers };

std::unique_ptr<LocalSession> make_local_session(std::shared_ptr<Worker> worker, const Quotas& quotas = {},
                                                 Execution execution = Execution::on_its_thread);

}  // namespace burn::session
