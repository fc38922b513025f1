// Compiled programs by hash and call sites, shared between sessions and bounded by what they take. The least recently
// used ones go first. A plan's errors name call sites, which are their user's own: the same
// program written elsewhere has another plan.
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

// A compiled program. Sessions refer to it weakly, so that the cache alone decides how long it stays; a run holds
// it.
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
  const std::shared_ptr<backends::Executable> executable_;  // also of runs that are under way
  std::atomic<Clock::rep> last_used_ = 0, time_ = 0;
  std::atomic<std::uint64_t> runs_ = 0;
  std::atomic<bool> is_defined_ = false;
};
using PlanPtr = std::shared_ptr<Plan>;

// What a preparation of this host's has made. Null: nothing.
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

  // The plan of a program, marked as used. Compiles it if there is none; other callers for the same one meanwhile wait
  // for it. No lock is held while compiling. A failure is returned to all of them, and forgotten: there may be memory
  // the next time. The newest plan stays, however large it is.
  Result<PlanPtr> get(const std::shared_ptr<const ir::Program>& program, const Compile& compile);

  // Drops those that were not used for the longest time, down to so many bytes. How many bytes are left.
  std::size_t trim(std::size_t keep);

  Stats stats() const;
  std::vector<Worker::PlanUse> dearest(std::size_t most) const;  // as Worker::dearest_plans()

 private:
  struct Entry {
    std::shared_ptr<const ir::Program> program;
    std::shared_future<Result<PlanPtr>> future;
    PlanPtr plan = {};  // once it is compiled
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
  void evict(const Plan* newest);
  template <typename IsAbove>
  std::vector<PlanPtr> drop_oldest(const Plan* spared, const IsAbove& is_above);

  const PlanCapacity capacity_;
  mutable std::mutex mutex_;
  Entries entries_;
  std::size_t bytes_ = 0;
  std::uint64_t hits_ = 0, misses_ = 0, evictions_ = 0;
};

}  // namespace burn::session
