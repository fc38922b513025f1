// Programs that are read and compiled before their turn, on threads beside the executors': a client that writes a new
// program for every step has several waiting while one runs.
//
// Nothing depends on it: what was not begun when its turn comes, or did not succeed, the executor does itself, and says
// what is wrong with it.
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

// What a host has made of a program to run it by: a compiled program, or programs for others. Each host knows its own.
class Compiled {
 public:
  virtual ~Compiled() = default;
};

struct PreparedProgram {
  std::shared_ptr<const ir::Program> program;
  Budget::HostShare share;  // of the program and its plan
  std::shared_ptr<Compiled> plan;
};

// Thread-safe.
class Preparation {
 public:
  using Job = std::function<std::optional<PreparedProgram>()>;  // may throw

  explicit Preparation(Job job) : job_(std::move(job)) {}
  // Does the job, unless it has been taken.
  void perform();
  // What the job made, once: waits for one that is under way; nothing if it was not begun, and it will not be.
  std::optional<PreparedProgram> take();

 private:
  enum class State { waiting, working, over };

  std::mutex mutex_;
  std::condition_variable is_over_;
  State state_ = State::waiting;
  Job job_;
  std::optional<PreparedProgram> made_;
};

// Holds a preparation until its call's turn. When the holder goes first, a preparation that is not begun never is, and
// one under way is waited for, as it uses the session's state.
class PreparationHolder {
 public:
  PreparationHolder() = default;
  explicit PreparationHolder(std::shared_ptr<Preparation> held) : held_(std::move(held)) {}
  PreparationHolder(PreparationHolder&&) = default;
  PreparationHolder& operator=(PreparationHolder&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~PreparationHolder() { (void)take(); }  // waits for what is under way, and drops its result

  bool is_there() const { return held_ != nullptr; }
  std::optional<PreparedProgram> take() { return held_ ? std::exchange(held_, nullptr)->take() : std::nullopt; }

 private:
  std::shared_ptr<Preparation> held_;
};

// Threads that prepare, first come first served. Thread-safe.
class Preparers {
 public:
  Preparers();  // as many as BURN_PLAN_THREADS says, else a quarter of the cores, four at most
  explicit Preparers(std::size_t threads);
  Preparers(const Preparers&) = delete;
  Preparers& operator=(const Preparers&) = delete;
  ~Preparers();  // what was not begun is not done
  // Those of this process, which stay until it ends.
  static Preparers& instance();

  bool are_there() const { return !threads_.empty(); }
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
