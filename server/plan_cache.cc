#include "server/plan_cache.h"

#include "server/guarded.h"

namespace burn::server {
Result<PlanPtr> PlanCache::get(const std::shared_ptr<const ir::Program>& program, const Compile& compile) {
  std::promise<Result<PlanPtr>> promise;
  std::unique_lock lock{mutex_};
  if (const auto known = by_hash_.find(program->hash); known != by_hash_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    const auto entry = entries_.front();
    lock.unlock();
    // Sessions need not trust each other, and somebody may have made two programs with one hash.
    const bool same = entry.program == program || ir::same(*entry.program, *program);
    lock.lock();
    ++(same ? hits_ : misses_);
    lock.unlock();
    return same ? entry.plan.get() : guarded(compile);
  }
  ++misses_;
  entries_.push_front({program, promise.get_future().share()});
  by_hash_[program->hash] = entries_.begin();
  nodes_ += program->nodes.size();
  evict();
  lock.unlock();

  auto plan = guarded(compile);
  if (!plan.ok()) forget(program);
  promise.set_value(plan);
  return plan;
}

void PlanCache::evict() {
  while (entries_.size() > 1 && (entries_.size() > capacity_.plans || nodes_ > capacity_.nodes)) {
    nodes_ -= entries_.back().program->nodes.size();
    by_hash_.erase(entries_.back().program->hash);
    entries_.pop_back();
  }
}

void PlanCache::forget(const std::shared_ptr<const ir::Program>& program) {
  const std::lock_guard lock{mutex_};
  const auto found = by_hash_.find(program->hash);
  if (found == by_hash_.end() || found->second->program != program) return;
  nodes_ -= program->nodes.size();
  entries_.erase(found->second);
  by_hash_.erase(found);
}

PlanCache::Stats PlanCache::stats() const {
  const std::lock_guard lock{mutex_};
  return {entries_.size(), hits_, misses_};
}

}  // namespace burn::server
