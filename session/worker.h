// A device of this process, and what its sessions share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"
#include "base/span.h"
#include "base/status.h"
#include "serving/duration_histogram.h"
#include "serving/fair_gate.h"
#include "session/collective_counters.h"
#include "session/housekeeper.h"

namespace burn::session {

// How many compiled programs a worker keeps, and how many bytes of them and their programs together.
struct PlanCapacity {
  // A gigabyte, or less where there is little memory (session/worker.cc).
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
    std::uint64_t plans = 0, plan_bytes = 0, plan_hits = 0, plan_misses = 0, plan_evictions = 0;
    std::uint64_t runs = 0, sessions = 0;
    // Of the device, all sessions' buffers.
    std::uint64_t memory_limit = 0, memory_in_use = 0, memory_reserved = 0, memory_peak = 0;
    std::chrono::nanoseconds busy{0};    // all sessions' executors, compiling and running programs
    std::uint64_t host_bytes = 0;        // counted beside buffers: calls that wait, programs, plans, tables
    std::uint64_t runs_interrupted = 0;  // by their session's end or for their time
    // Of these in all of the process (backends/detached_work.h): those that still compute, and how many have been left
    // so.
    std::uint64_t runs_left_behind = 0, runs_left_behind_so_far = 0;
    // Definitions by sessions. new: the program was compiled for it; known: it was compiled already; refused: it could
    // not be read, was too large, or did not compile.
    std::uint64_t programs_new = 0, programs_known = 0, programs_refused = 0;
    std::uint64_t allocation_failures = 0;  // calls that failed with RESOURCE_EXHAUSTED
  };
  virtual Stats stats() const = 0;
  // Of runs: how long they waited from when their call had come to their beginning, and how long they took from there,
  // on devices that work on their own to be launched. And how long programs took to compile that were not in the cache.
  struct RunTimes {
    serving::DurationHistogram queue, run, compile;
  };
  virtual const RunTimes& run_times() const = 0;
  // Of a compiled program that is kept. `first_op`: the name of its first node's op; empty: it has no node.
  struct PlanUse {
    std::string hash, first_op;
    std::uint64_t nodes = 0, runs = 0, bytes = 0;
    std::chrono::nanoseconds time{0};  // of its runs, on devices that work on their own to be launched
  };
  // The `most` whose runs took the longest, those first.
  virtual std::vector<PlanUse> dearest_plans(std::size_t most) const = 0;

  // Of the sessions' runs.
  virtual CollectiveCounters& collectives() = 0;

  // Where spans of single runs go; null: nowhere. To be called before there are sessions.
  virtual void set_spans(std::shared_ptr<SpanSink> spans) = 0;
  virtual SpanSink* spans() const = 0;

  // For sessions: where their runs wait for their turn among tenants'.
  virtual serving::FairGate& gate() = 0;
  // What stats() counts.
  virtual void count_session(int change) = 0;
  virtual void count_run() = 0;
  virtual void count_run_times(std::chrono::nanoseconds queue, std::chrono::nanoseconds run) = 0;
  virtual void count_busy(std::chrono::nanoseconds time) = 0;
  virtual void count_interrupted_run() = 0;
  virtual void count_refused_program() = 0;
  virtual void count_program(bool is_new) = 0;
  virtual void count_allocation_failure() = 0;
};

}  // namespace burn::session
