// Compiled programs by hash, shared between sessions. The least recently used ones go first; whoever holds a plan keeps
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "backends/backend.h"
#include "base/status.h"

namespace burn::server {

using PlanPtr = std::shared_ptr<backends::Executable>;

// Thread-safe.
class PlanCache {
 public:
  struct Capacity {
    std::size_t plans = 1024;
    std::size_t nodes = 1 << 20;  // of all programs together
  };
  struct Stats {
    std::uint64_t plans = 0, hits = 0, misses = 0;
  };
  using Compile = std::function<Result<PlanPtr>()>;

  PlanCache() = default;
  explicit PlanCache(const Capacity& capacity) : capacity_(capacity) {}

  // The plan of a program. Compiles it if there is none; others who want the same one meanwhile wait for it. No lock is
  // held while compiling. A failure is told to all who waited, and forgotten: there may be memory the next time.
  Result<PlanPtr> get(const std::shared_ptr<const ir::Program>& program, const Compile& compile);

  Stats stats() const;

 private:
  struct Entry {
    std::shared_ptr<const ir::Program> program;
    std::shared_future<Result<PlanPtr>> plan;
  };
  struct HashOf {
    std::size_t operator()(const ir::ProgramHash& hash) const { return hash.low; }
  };
  using Entries = std::list<Entry>;

  void evict();
  void forget(const std::shared_ptr<const ir::Program>& program);

  const Capacity capacity_;
  mutable std::mutex mutex_;
  Entries entries_;  // most recently used first
  std::unordered_map<ir::ProgramHash, Entries::iterator, HashOf> by_hash_;
  std::size_t nodes_ = 0;
  std::uint64_t hits_ = 0, misses_ = 0;
};

}  // namespace burn::server
