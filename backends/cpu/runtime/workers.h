// The pool of threads behind parallel_for: one for the whole process, shared by all callers.
//
// A job's parts are divided into shares for its threads, the same way for every job of the same size, so that what a
// thread has computed is in its own cache when the next op reads it. A thread takes a quarter of what is left of its
// share at a time, so the last pieces are small; a thread that has finished its share takes from the others'. Cores of
// one machine differ in speed by a fifth, and with even pieces of a quarter of a share eight threads waited for the
// last one a quarter of their time. Only the threads that a job has shares for are called, each by a wake-up counter of
// its own, so small jobs do not wake the rest.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/interrupt.h"

namespace burn::backends::cpu {

// One parallel_for: body(context, begin, end) is called for pieces of [0, n), each of which consists of some of its
// `parts` parts.
struct Job {
  using Body = void (*)(const void* context, std::int64_t begin, std::int64_t end);

  std::int64_t n, parts, grain;
  Body body;
  const void* context;
  const Interrupt* interrupt = InterruptScope::current();  // that of the caller

  // Runs items [begin, end), and checks for an interrupt before every 64 grains of them.
  void run(std::int64_t begin, std::int64_t end) const;
  void run_parts(std::int64_t first, std::int64_t end) const { run(begin_of(first), begin_of(end)); }

  // The first item of a part. Parts with one item more than others are spread evenly, so that a thread's share, which
  // is several parts, has at most one item more than another's. (No product exceeds 64 bits.)
  std::int64_t begin_of(std::int64_t part) const { return n / parts * part + n % parts * part / parts; }
};

// While it lives, a run is in progress that has more jobs to come: threads spin longer between two jobs.
class ActiveRun {
 public:
  ActiveRun() { count_.fetch_add(1, std::memory_order_relaxed); }
  ~ActiveRun() { count_.fetch_sub(1, std::memory_order_relaxed); }
  ActiveRun(const ActiveRun&) = delete;
  ActiveRun& operator=(const ActiveRun&) = delete;

  static bool is_any() { return count_.load(std::memory_order_relaxed) > 0; }

 private:
  alignas(64) static inline constinit std::atomic<int> count_ = 0;  // of the process
};

// Thread-safe.
class Workers {
 public:
  // Never destroyed, as its threads sleep until the process ends.
  static Workers& instance();

  // If the system has no more threads, those that started do the work.
  explicit Workers(int count);

  // Runs every part, helped by threads that are free; returns when the last is done. If a part throws, those that have
  // not begun are skipped, and the caller gets the first exception.
  void run(const Job& job);

  // Whether the calling thread is running a part.
  static bool is_working();
  // Whether the calling thread belongs to the pool.
  static bool is_own_thread();

 private:
  static constexpr int kMaxOpen = 32;    // jobs; callers of further jobs run them alone
  static constexpr int kMaxShares = 64;  // of a job

  struct alignas(64) Share {
    std::atomic<std::int64_t> next = 0;
    std::int64_t end = 0;
  };
  // Parts [begin, end).
  struct Piece {
    std::int64_t begin = 0, end = 0;
    bool is_empty() const { return begin == end; }
  };
  // How a job's parts are divided into shares, and shares into pieces, for any thread.
  struct Division {
    std::int64_t parts;
    std::int32_t shares;
    std::int64_t fraction;  // a piece is 1 / fraction of what is left of a share

    Piece share(std::int64_t i) const;
    std::int64_t end_of_piece(std::int64_t begin, std::int64_t end) const {
      return begin + (end - begin + fraction - 1) / fraction;
    }
  };

  // A slot for one open job, which all threads that work on it read. A thread increments `visitors` before it checks
  // whether the job is still open, and a slot with visitors gets no new job: so no thread takes parts of one job for
  // those of another.
  struct alignas(64) JobSlot {
    std::atomic<bool> is_claimed = false;
    std::atomic<std::int32_t> visitors = 0;
    std::atomic<std::int32_t> invited = 0;  // shares whose threads were called
    std::atomic<std::int64_t> unfinished = 0;
    std::atomic<bool> has_failed = false;
    std::exception_ptr failure;            // the first; guarded by `mutex` until nothing is unfinished
    std::atomic<bool> is_awaited = false;  // its caller sleeps until nothing is unfinished
    std::mutex mutex;
    std::condition_variable done;
    Job job{};
    Division division{};
    std::int32_t first_worker = 0;  // the worker that has the second share
    std::vector<Share> shares;
  };

  struct alignas(64) Worker {
    std::atomic<std::uint32_t> wakeups = 0;
    std::atomic<bool> is_asleep = false;
    std::mutex mutex;
    std::condition_variable wake;
  };

  [[noreturn]] void serve(int index);
  bool work_on_any(int index, unsigned& turn);
  bool work_on(JobSlot& slot, std::int32_t share, bool one_piece);
  static void run_parts(JobSlot& slot, Piece piece);
  Division divide(const Job& job) const;
  static Piece take(const Division& division, Share& from);
  static Piece take(JobSlot& slot, std::int32_t share);
  std::int32_t share_of(int worker, const JobSlot& slot) const;
  void invite(JobSlot& slot);
  JobSlot* claim();
  std::uint32_t bit_of(const JobSlot& slot) const { return 1U << (&slot - slots_.get()); }

  const int count_;
  const std::unique_ptr<Worker[]> workers_;
  const std::unique_ptr<JobSlot[]> slots_;
  alignas(64) std::atomic<std::uint32_t> open_ = 0;  // a bit for each slot whose job may have parts left
};

}  // namespace burn::backends::cpu
