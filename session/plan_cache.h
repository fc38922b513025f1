// A cache of compiled programs by hash and call sites, shared between sessions and limited in bytes; evicts the least
// recently used. A plan's errors name the user's call sites, so the same program recorded elsewhere has another plan.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "backends/backend.h"
#include "base/status.h"
#include "serving/preparation.h"
#include "session/worker.h"

namespace burn::session {

// A compiled program. Sessions have weak references, so that the cache alone decides how long to keep it; a run has a
// strong one.
class Plan final : public serving::Compiled {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Plan(std::unique_ptr<backends::Executable> executable) : executable_(std::move(executable)) {}

  const std::shared_ptr<backends::Executable>& executable() const { return executable_; }
  Clock::time_point last_used() const {
    return Clock::time_point{Clock::duration{last_used_.load(std::memory_order_relaxed)}};
  }
  void mark_used(Clock::time_point now) { last_used_.store(now.time_since_epoch().count(), std::memory_order_relaxed); }
  void count_run(Clock::duration time) {
    runs_.fetch_add(1, std::memory_order_relaxed);
    time_.fetch_add(time.count(), std::memory_order_relaxed);
  }
  // Whether it is the first definition of the program since it was compiled.
  bool count_definition() { return !is_defined_.exchange(true, std::memory_order_relaxed); }
  std::uint64_t runs() const { return runs_.load(std::memory_order_relaxed); }
  std::chrono::nanoseconds time() const { return Clock::duration{time_.load(std::memory_order_relaxed)}; }

 private:
  const std::shared_ptr<backends::Executable> executable_;  // shared with running runs
  std::atomic<Clock::rep> last_used_ = 0, time_ = 0;
  std::atomic<std::uint64_t> runs_ = 0;
  std::atomic<bool> is_defined_ = false;
};
using PlanPtr = std::shared_ptr<Plan>;

// The plan of a PreparedProgram that was made by this host; may be null.
inline PlanPtr plan_of(std::shared_ptr<serving::Compiled> prepared) {
  return std::static_pointer_cast<Plan>(std::move(prepared));
}

// Thread-safe.
class PlanCache {
 public:
  struct Stats {
    std::uint64_t plans = 0, bytes = 0, hits = 0, misses = 0, evictions = 0;
  };
  using Compile = std::function<Result<std::unique_ptr<backends::Executable>>()>;

  PlanCache() = default;
  explicit PlanCache(const PlanCapacity& capacity) : capacity_(capacity) {}

  // Returns the plan of a program, marked as used. Compiles it if there is none; concurrent callers for the same
  // program wait for that. No lock is held while compiling. A failure is returned to all of them and not cached: there
  // may be memory the next time. The newest plan is kept, however large it is.
  Result<PlanPtr> get(const std::shared_ptr<const ir::Program>& program, const Compile& compile);

  // Evicts least recently used plans until at most `keep` bytes are left. Returns the bytes left.
  std::size_t trim(std::size_t keep);

  Stats stats() const;
  std::vector<Worker::PlanUse> costliest(std::size_t most) const;  // see Worker::costliest_plans()

 private:
  struct Entry {
    std::shared_ptr<const ir::Program> program;
    std::shared_future<Result<PlanPtr>> future;
    PlanPtr plan = {};  // null while it is compiled
    std::size_t bytes = 0;
  };
  struct Key {
    ir::ProgramHash program;
    std::uint64_t sites = 0;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashOf {
    std::size_t operator()(const Key& key) const { return key.program.low ^ key.sites; }
  };
  using Entries = std::unordered_map<Key, Entry, HashOf>;

  Result<PlanPtr> wait_for(const Entry& entry);
  void settle(const Key& key, const ir::Program& program, const Result<PlanPtr>& plan);
  std::vector<PlanPtr> evict(const Plan* newest);
  template <typename IsAbove>
  std::vector<PlanPtr> drop_oldest(const Plan* spared, const IsAbove& is_above);

  const PlanCapacity capacity_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::size_t bytes_ = 0;
  std::uint64_t hits_ = 0, misses_ = 0, evictions_ = 0;
};

}  // namespace burn::session
