// A device of this process, with the state that its sessions share.
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

// The most compiled programs that a worker keeps, and their bytes, including the source programs.
struct PlanCapacity {
  // A gigabyte, or less if there is little memory (session/worker.cc).
  static constexpr std::size_t kByMemory = ~std::size_t{0};

  std::size_t plans = 4096;
  std::size_t bytes = kByMemory;
};

class Plan;

// The backend of a device and the bounded cache of compiled programs, shared by the device's sessions. Thread-safe.
class Worker {
 public:
  // `idle`: how idle memory is returned to the system; `plans`: limits the compiled programs that are kept. Without
  // sessions, the most recently used plans may use up to half of the memory that `idle` lets the worker keep.
  static std::shared_ptr<Worker> create(std::unique_ptr<backends::Backend> backend, const IdleMemory& idle = {},
                                        const PlanCapacity& plans = {});
  virtual ~Worker() = default;
  virtual backends::Backend& backend() = 0;
  // Returns the compiled program, from the cache if it is there.
  virtual Result<std::shared_ptr<Plan>> compile(const std::shared_ptr<const ir::Program>& program) = 0;

  struct Stats {
    std::uint64_t plans = 0, plan_bytes = 0, plan_hits = 0, plan_misses = 0, plan_evictions = 0;
    std::uint64_t runs = 0, sessions = 0;
    // The device's memory, for buffers of all sessions.
    std::uint64_t memory_limit = 0, memory_in_use = 0, memory_reserved = 0, memory_peak = 0;
    std::chrono::nanoseconds busy{0};    // all sessions' executors, compiling and running programs
    std::uint64_t host_bytes = 0;        // memory other than buffers: waiting calls, programs, plans, tables
    std::uint64_t runs_interrupted = 0;  // by their session's end or the time limit
    // Interrupted runs of the whole process that were abandoned (backends/detached_work.h): those that still compute,
    // and all so far.
    std::uint64_t runs_left_behind = 0, runs_left_behind_so_far = 0;
    // Definitions by sessions. new: the program was compiled for it; known: it was already compiled; refused: it could
    // not be decoded, was too large, or did not compile.
    std::uint64_t programs_new = 0, programs_known = 0, programs_refused = 0;
    std::uint64_t allocation_failures = 0;  // calls that failed with RESOURCE_EXHAUSTED
  };
  virtual Stats stats() const = 0;
  // queue: time from the arrival of a run's call to its beginning; run: time from there to its end, on asynchronous
  // devices to its launch; compile: time to compile a program that was not in the cache.
  struct RunTimes {
    serving::DurationHistogram queue, run, compile;
  };
  virtual const RunTimes& run_times() const = 0;
  // Statistics of a cached compiled program. `first_op`: the name of its first node's op; empty if it has no node.
  struct PlanUse {
    std::string hash, first_op;
    std::uint64_t nodes = 0, runs = 0, bytes = 0;
    std::chrono::nanoseconds time{0};  // of its runs, on asynchronous devices until their launch
  };
  // The `most` plans with the largest total run time, in descending order.
  virtual std::vector<PlanUse> costliest_plans(std::size_t most) const = 0;

  // Counters of the collectives of all sessions' runs.
  virtual CollectiveCounters& collectives() = 0;

  // Sets where spans of runs are sent; null: nowhere. Call before there are sessions.
  virtual void set_spans(std::shared_ptr<SpanSink> spans) = 0;
  virtual SpanSink* spans() const = 0;

  // For sessions: the gate at which runs of several tenants wait for their turn.
  virtual serving::FairGate& gate() = 0;
  // Add to the counters of stats().
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
