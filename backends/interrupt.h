// Interrupts end runs before they are done: because their session ends, or because their time limit has passed.
//
// A backend that computes on threads of this process calls throw_if_interrupted() between parts of its work, none of
// which takes longer than some milliseconds; the exception ends that run and nothing else.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/pages.h"
#include "base/status.h"

namespace burn::backends {

// request() may be called by any thread and is permanent; the time limit is set by the thread that runs, before each
// run.
class Interrupt {
 public:
  Interrupt() = default;
  // For a part of a run that must not be left half done: it ends when the session of `outer` ends, if that is not null,
  // but has the whole time limit of a run to itself.
  explicit Interrupt(const Interrupt* outer) : outer_(outer) {}

  void request() { requested_.store(true, std::memory_order_relaxed); }
  bool is_requested() const { return requested_.load(std::memory_order_relaxed) || (outer_ && outer_->is_requested()); }

  // 0: no limit.
  void begin_run(std::chrono::milliseconds limit) {
    limit_ = limit;
    deadline_.store(limit.count() > 0 ? coarse_milliseconds() + limit.count() : 0, std::memory_order_relaxed);
  }
  void begin_run() { begin_run(outer_ ? outer_->limit_ : std::chrono::milliseconds{0}); }
  bool is_due() const {
    if (is_requested()) return true;
    const auto deadline = deadline_.load(std::memory_order_relaxed);
    return deadline != 0 && coarse_milliseconds() > deadline;
  }
  // The reason to end, if is_due().
  Status why() const;

 private:
  std::atomic<bool> requested_ = false;
  std::atomic<std::int64_t> deadline_ = 0;
  std::chrono::milliseconds limit_{0};
  const Interrupt* outer_ = nullptr;
};

// Thrown by throw_if_interrupted(). Not a std::exception, so that no handler takes it for a failure of its own.
struct Interrupted {};

// While it lives, the calling thread works for the run of `interrupt`.
class InterruptScope {
 public:
  explicit InterruptScope(const Interrupt* interrupt) : outer_(std::exchange(current_, interrupt)) {}
  ~InterruptScope() { current_ = outer_; }
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  static const Interrupt* current() { return current_; }

 private:
  static inline constinit thread_local const Interrupt* current_ = nullptr;
  const Interrupt* const outer_;
};

inline void throw_if_interrupted() {
  const auto* interrupt = InterruptScope::current();
  if (interrupt && interrupt->is_due()) throw Interrupted{};
}

// For loops of many short steps: checks for an interrupt once per kEvery units. A unit is about a nanosecond of a
// core's work. Each meter continues the count of the thread's previous one: loops that are begun again and again, one
// for each plane of a convolution, check as often as a single loop.
class InterruptMeter {
 public:
  InterruptMeter() : left_(carried_) {}
  ~InterruptMeter() { carried_ = left_; }
  InterruptMeter(const InterruptMeter&) = delete;
  InterruptMeter& operator=(const InterruptMeter&) = delete;

  void add(std::int64_t units) {
    left_ -= units;
    if (left_ > 0) return;
    left_ = kEvery;
    throw_if_interrupted();
  }

 private:
  static constexpr std::int64_t kEvery = 1 << 20;
  static inline constinit thread_local std::int64_t carried_ = kEvery;
  std::int64_t left_;
};

}  // namespace burn::backends
