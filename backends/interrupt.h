// Runs that end before they are done: because their session does, or because their time is over.
//
// A backend that computes on threads of this process asks throw_if_interrupted() between parts of its work, none of
// which takes longer than some milliseconds; what it throws ends the run and nothing else.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/pages.h"
#include "base/status.h"

namespace burn::backends {

// Asked for by any thread, for good; the time is set by the thread that runs, before each run.
class Interrupt {
 public:
  Interrupt() = default;
  // Of a part of a run that is not to be left half done: it ends with the session of the other one, if there is one,
  // but has the whole time of a run to itself.
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
  // Why, if it is due.
  Status why() const;

 private:
  std::atomic<bool> requested_ = false;
  std::atomic<std::int64_t> deadline_ = 0;
  std::chrono::milliseconds limit_{0};
  const Interrupt* outer_ = nullptr;
};

// What throw_if_interrupted() throws. Not a std::exception, so that no handler takes it for a failure of its own.
struct Interrupted {};

// Whose run this thread works for, as long as it lives.
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

// For loops of many short steps: asks once in a while. A unit is what a core does in about a nanosecond. What one meter
// has counted, the next one of this thread goes on from: loops that are begun again and again, one for each plane of a
// convolution, ask as often as a single one.
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
