// Decodes and compiles programs before their turn, on separate threads: a client that defines a new program for every
// step has several waiting while one runs.
//
// This is only an optimisation: if a preparation has not begun in time or has failed, the executor does the work
// itself, and reports errors.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "ir/program.h"
#include "serving/budget.h"

namespace burn::serving {

// A host's compiled form of a program: a compiled program, or programs for other workers. Each host has its own
// subclass.
class Compiled {
 public:
  virtual ~Compiled() = default;
};

struct PreparedProgram {
  std::shared_ptr<const ir::Program> program;
  Budget::HostShare share;  // for the program and its plan
  std::shared_ptr<Compiled> plan;
};

// Thread-safe.
class Preparation {
 public:
  using Job = std::function<std::optional<PreparedProgram>()>;  // may throw

  explicit Preparation(Job job) : job_(std::move(job)) {}
  // Does the job, unless take() was called before.
  void perform();
  // Returns the job's result, once. Waits for a running job; std::nullopt if it has not begun, and then it never
  // begins.
  std::optional<PreparedProgram> take();

 private:
  enum class State { waiting, working, over };

  std::mutex mutex_;
  std::condition_variable is_over_;
  State state_ = State::waiting;
  Job job_;
  std::optional<PreparedProgram> made_;
};

// Holds a preparation until its call's turn. The destructor cancels a preparation that has not begun and waits for a
// running one, as it uses the session's state.
class PreparationHolder {
 public:
  PreparationHolder() = default;
  explicit PreparationHolder(std::shared_ptr<Preparation> held) : held_(std::move(held)) {}
  PreparationHolder(PreparationHolder&&) = default;
  PreparationHolder& operator=(PreparationHolder&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~PreparationHolder() { (void)take(); }  // waits for a running job, and drops its result

  bool has_preparation() const { return held_ != nullptr; }
  std::optional<PreparedProgram> take() { return held_ ? std::exchange(held_, nullptr)->take() : std::nullopt; }

 private:
  std::shared_ptr<Preparation> held_;
};

// A thread pool for preparations, first come first served. Thread-safe.
class PreparationThreads {
 public:
  PreparationThreads();  // BURN_PLAN_THREADS threads, by default a quarter of the cores, four at most
  explicit PreparationThreads(std::size_t threads);
  PreparationThreads(const PreparationThreads&) = delete;
  PreparationThreads& operator=(const PreparationThreads&) = delete;
  ~PreparationThreads();  // drops preparations that have not begun
  // The pool of this process, which is never destroyed.
  static PreparationThreads& instance();

  bool has_threads() const { return !threads_.empty(); }
  PreparationHolder prepare(Preparation::Job job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Preparation>> waiting_;
  bool is_ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace burn::serving
