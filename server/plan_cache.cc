#include "server/plan_cache.h"

#include <algorithm>

#include "server/guarded.h"

namespace burn::server {
namespace {

Result<PlanPtr> compiled(const PlanCache::Compile& compile) {
  return guarded([&]() -> Result<PlanPtr> {
    BURN_TRY(auto executable, compile());
    auto plan = std::make_shared<Plan>(std::move(executable));
    plan->mark_used(Plan::Clock::now());
    return plan;
  });
}

}  // namespace

Result<PlanPtr> PlanCache::get(const std::shared_ptr<const ir::Program>& program, const Compile& compile) {
  std::promise<Result<PlanPtr>> promise;
  {
    std::unique_lock lock{mutex_};
    const auto [known, is_new] = entries_.try_emplace(program->hash);
    if (!is_new) {
      const auto entry = known->second;
      lock.unlock();
      // Sessions need not trust each other, and somebody may have made two programs with one hash.
      const bool same = entry.program == program || ir::same(*entry.program, *program);
      lock.lock();
      ++(same ? hits_ : misses_);
      lock.unlock();
      return same ? wait_for(entry) : compiled(compile);
    }
    ++misses_;
    known->second = {program, promise.get_future().share()};
  }
  auto plan = compiled(compile);
  settle(program, plan);
  promise.set_value(plan);
  return plan;
}

Result<PlanPtr> PlanCache::wait_for(const Entry& entry) {
  auto plan = entry.future.get();
  if (plan.ok()) (*plan)->mark_used(Plan::Clock::now());
  return plan;
}

// The entry of a program that has been compiled: it counts from now on, or is forgotten.
void PlanCache::settle(const std::shared_ptr<const ir::Program>& program, const Result<PlanPtr>& plan) {
  const auto bytes = plan.ok() ? (*plan)->executable().memory_bytes() + ir::memory_bytes(*program) : 0;
  const std::lock_guard lock{mutex_};
  const auto entry = entries_.find(program->hash);
  if (!plan.ok()) {
    entries_.erase(entry);
    return;
  }
  entry->second.plan = *plan;
  entry->second.bytes = bytes;
  bytes_ += bytes;
  evict(plan->get());
}

void PlanCache::evict(const Plan* newest) {
  const auto is_older = [&](const auto& a, const auto& b) {
    const auto age = [&](const Entry& entry) {  // what is being compiled, or just was, is no candidate
      return entry.plan && entry.plan.get() != newest ? entry.plan->last_used() : Plan::Clock::time_point::max();
    };
    return age(a.second) < age(b.second);
  };
  while (entries_.size() > capacity_.plans || bytes_ > capacity_.bytes) {
    const auto oldest = std::ranges::min_element(entries_, is_older);
    if (!oldest->second.plan || oldest->second.plan.get() == newest) return;
    bytes_ -= oldest->second.bytes;
    entries_.erase(oldest);
  }
}

PlanCache::Stats PlanCache::stats() const {
  const std::lock_guard lock{mutex_};
  return {entries_.size(), bytes_, hits_, misses_};
}

}  // namespace burn::server
