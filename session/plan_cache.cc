#include "session/plan_cache.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "ir/sites.h"
#include "serving/guarded.h"

namespace burn::session {
namespace {

Result<PlanPtr> compiled(const PlanCache::Compile& compile) {
  return serving::guarded([&]() -> Result<PlanPtr> {
    BURN_TRY(auto executable, compile());
    auto plan = std::make_shared<Plan>(std::move(executable));
    plan->mark_used(Plan::Clock::now());
    return plan;
  });
}

}  // namespace

Result<PlanPtr> PlanCache::get(const std::shared_ptr<const ir::Program>& program, const Compile& compile) {
  std::promise<Result<PlanPtr>> promise;
  const Key key{program->hash, ir::sites_hash(*program)};
  {
    std::unique_lock lock{mutex_};
    const auto [known, is_new] = entries_.try_emplace(key);
    if (!is_new) {
      const auto entry = known->second;
      lock.unlock();
      // Compares in full: sessions need not trust each other, and two programs with the same hash can be made on
      // purpose.
      const bool same =
          entry.program == program || (ir::same(*entry.program, *program) && ir::same_sites(*entry.program, *program));
      lock.lock();
      ++(same ? hits_ : misses_);
      lock.unlock();
      return same ? wait_for(entry) : compiled(compile);
    }
    ++misses_;
    known->second = {program, promise.get_future().share()};
  }
  auto plan = compiled(compile);
  settle(key, *program, plan);
  promise.set_value(plan);
  return plan;
}

Result<PlanPtr> PlanCache::wait_for(const Entry& entry) {
  auto plan = entry.future.get();
  if (plan.ok()) (*plan)->mark_used(Plan::Clock::now());
  return plan;
}

// Completes the entry of a program after compiling it: counts its bytes, or removes it on failure.
void PlanCache::settle(const Key& key, const ir::Program& program, const Result<PlanPtr>& plan) {
  const auto bytes = plan.ok() ? (*plan)->executable()->memory_bytes() + ir::memory_bytes(program) : 0;
  std::vector<PlanPtr> evicted;  // freed after the lock is released
  const std::lock_guard lock{mutex_};
  const auto entry = entries_.find(key);
  if (!plan.ok()) {
    entries_.erase(entry);
    return;
  }
  entry->second.plan = *plan;
  entry->second.bytes = bytes;
  bytes_ += bytes;
  evicted = evict(plan->get());
}

// Evicts the least recently used plans and returns them; if there are many, an eighth of the capacity at a time, so
// that a stream of new programs does not sort all plans for each.
std::vector<PlanPtr> PlanCache::evict(const Plan* newest) {
  const auto is_above = [&](std::size_t slack) {
    return entries_.size() > capacity_.plans - capacity_.plans / 8 * slack ||
           bytes_ > capacity_.bytes - capacity_.bytes / 8 * slack;
  };
  if (!is_above(0)) return {};
  constexpr std::size_t kMany = 64;
  const std::size_t slack = entries_.size() >= kMany ? 1 : 0;
  return drop_oldest(newest, [&] { return is_above(slack); });
}

// Returns the evicted plans, so that callers may free them outside the lock. Requires: mutex_ is locked.
template <typename IsAbove>
std::vector<PlanPtr> PlanCache::drop_oldest(const Plan* spared, const IsAbove& is_above) {
  std::vector<std::pair<Plan::Clock::time_point, Entries::iterator>> by_age;
  by_age.reserve(entries_.size());
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    const auto& plan = entry->second.plan;  // null while it is compiled
    if (plan && plan.get() != spared) by_age.emplace_back(plan->last_used(), entry);
  }
  std::ranges::sort(by_age, {}, [](const auto& aged) { return aged.first; });
  std::vector<PlanPtr> dropped;
  for (const auto& [age, entry] : by_age) {
    if (!is_above()) break;
    bytes_ -= entry->second.bytes;
    dropped.push_back(std::move(entry->second.plan));
    entries_.erase(entry);
  }
  evictions_ += dropped.size();
  return dropped;
}

std::size_t PlanCache::trim(std::size_t keep) {
  std::vector<PlanPtr> dropped;  // freed after the lock is released
  const std::lock_guard lock{mutex_};
  dropped = drop_oldest(nullptr, [&] { return bytes_ > keep; });
  return bytes_;
}

std::vector<Worker::PlanUse> PlanCache::costliest(std::size_t most) const {
  std::vector<Entry> kept;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [key, entry] : entries_) {
      if (entry.plan) kept.push_back(entry);
    }
  }
  std::vector<Worker::PlanUse> uses;
  uses.reserve(kept.size());
  for (const auto& entry : kept) {
    const auto& nodes = entry.program->nodes;
    uses.push_back({.hash = ir::to_string(entry.program->hash),
                    .first_op = nodes.empty() ? std::string{} : std::string{ir::name(nodes.front().op)},
                    .nodes = nodes.size(),
                    .runs = entry.plan->runs(),
                    .bytes = entry.bytes,
                    .time = entry.plan->time()});
  }
  most = std::min(most, uses.size());
  std::ranges::partial_sort(uses, uses.begin() + static_cast<std::ptrdiff_t>(most), std::greater{},
                            &Worker::PlanUse::time);
  uses.resize(most);
  return uses;
}

PlanCache::Stats PlanCache::stats() const {
  const std::lock_guard lock{mutex_};
  return {entries_.size(), bytes_, hits_, misses_, evictions_};
}

}  // namespace burn::session
