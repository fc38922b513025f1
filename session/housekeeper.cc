#include "session/housekeeper.h"

#include <algorithm>

#include "base/fork.h"
#include "base/host_block.h"
#include "base/pages.h"
#include "base/thread.h"
#include "session/plan_cache.h"

namespace burn::session {
namespace {

// The allocator keeps pages of freed blocks; trimming it is not worth the time for small amounts.
constexpr std::uint64_t kWorthTrimming = std::uint64_t{64} << 20;

// Locked while a housekeeper of this process frees memory.
struct Tidying {
  std::mutex mutex;
  bool has_ended = false;
};

Tidying& tidying() {
  static auto& instances = *new OnePerProcess<Tidying>;
  return instances.get();
}

}  // namespace

Housekeeper::Housekeeper(backends::Backend& backend, const IdleMemory& policy, PlanCache* plans)
    : backend_(backend), policy_(policy), plans_(plans) {
  thread_ = start_thread("burn-keeper", [this] { work(); });
}

Housekeeper::~Housekeeper() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Housekeeper::end_all() {
  const std::lock_guard held{tidying().mutex};
  tidying().has_ended = true;
}

void Housekeeper::count_session(int change) {
  {
    const std::lock_guard lock{mutex_};
    sessions_ += change;
    is_tidy_ = false;
  }
  changed_.notify_all();
}

std::uint64_t Housekeeper::sessions() const {
  const std::lock_guard lock{mutex_};
  return static_cast<std::uint64_t>(sessions_);
}

void Housekeeper::work() {
  std::unique_lock lock{mutex_};
  const auto unlocked = [&](const auto& give_back) {
    lock.unlock();
    {
      const std::lock_guard held{tidying().mutex};
      if (!tidying().has_ended) give_back();
    }
    lock.lock();
  };
  while (!stopping_) {
    if (sessions_ > 0) {
      changed_.wait_for(lock, policy_.between_looks, [&] { return stopping_ || sessions_ == 0; });
      if (sessions_ > 0 && !stopping_) unlocked([&] { tidy(policy_.bytes, policy_.after_use); });
    } else if (is_tidy_) {
      changed_.wait(lock, [&] { return stopping_ || sessions_ > 0 || !is_tidy_; });
    } else {
      const auto is_needed = [&] { return stopping_ || sessions_ > 0; };
      if (changed_.wait_for(lock, policy_.after_sessions, is_needed)) continue;
      is_tidy_ = true;
      unlocked([&] { trim_without_sessions(); });
    }
  }
}

void Housekeeper::tidy(std::uint64_t keep, std::chrono::milliseconds unused_for) const {
  const std::uint64_t freed = backend_.trim(keep, unused_for) + trim_host_blocks(0, unused_for);
  if (freed >= kWorthTrimming) trim_heap();
}

// Plans are kept before blocks: compiling one again costs more than allocating a block again. Plans consist of small
// allocations, so the heap is trimmed last, when both are freed.
void Housekeeper::trim_without_sessions() const {
  const auto plans = plans_ ? plans_->trim(policy_.bytes / 2) : 0;
  (void)backend_.trim(policy_.bytes - std::min<std::uint64_t>(plans, policy_.bytes), {});
  (void)trim_host_blocks(0, {});
  trim_heap();
}

}  // namespace burn::session
