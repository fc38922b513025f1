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
      // Sessions need not trust each other, and two programs with one hash can be made on purpose.
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

// The entry of a program that has been compiled: it counts from now on, or is forgotten.
void PlanCache::settle(const Key& key, const ir::Program& program, const Result<PlanPtr>& plan) {
  const auto bytes = plan.ok() ? (*plan)->executable()->memory_bytes() + ir::memory_bytes(program) : 0;
  const std::lock_guard lock{mutex_};
  const auto entry = entries_.find(key);
  if (!plan.ok()) {
    entries_.erase(entry);
    return;
  }
  entry->second.plan = *plan;
  entry->second.bytes = bytes;
  bytes_ += bytes;
  evict(plan->get());
}

// The oldest go, an eighth of many at a time, so that a stream of new programs does not look at all plans for each.
void PlanCache::evict(const Plan* newest) {
  const auto is_above = [&](std::size_t slack) {
    return entries_.size() > capacity_.plans - capacity_.plans / 8 * slack ||
           bytes_ > capacity_.bytes - capacity_.bytes / 8 * slack;
  };
  if (!is_above(0)) return;
  constexpr std::size_t kMany = 64;
  const std::size_t slack = entries_.size() >= kMany ? 1 : 0;
  (void)drop_oldest(newest, [&] { return is_above(slack); });
}

// Those that were dropped, for callers that free them outside the lock. Requires: mutex_ is held.
template <typename IsAbove>
std::vector<PlanPtr> PlanCache::drop_oldest(const Plan* spared, const IsAbove& is_above) {
  std::vector<std::pair<Plan::Clock::time_point, Entries::iterator>> by_age;
  by_age.reserve(entries_.size());
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    const auto& plan = entry->second.plan;  // null: being compiled
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
  std::vector<PlanPtr> dropped;  // freed when the lock is no longer held
  const std::lock_guard lock{mutex_};
  dropped = drop_oldest(nullptr, [&] { return bytes_ > keep; });
  return bytes_;
}

std::vector<Worker::PlanUse> PlanCache::dearest(std::size_t most) const {
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
