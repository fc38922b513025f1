#include "session/housekeeper.h"

#include "base/host_block.h"
#include "base/pages.h"
#include "base/thread.h"

namespace burn::session {
namespace {

// Of blocks that went to the allocator it keeps pages; looking for them takes longer than small amounts are worth.
constexpr std::uint64_t kWorthTrimming = std::uint64_t{64} << 20;

}  // namespace

Housekeeper::Housekeeper(backends::Backend& backend, const IdleMemory& policy) : backend_(backend), policy_(policy) {
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
  const auto tidy_unlocked = [&](std::uint64_t keep, std::chrono::milliseconds unused_for) {
    lock.unlock();
    tidy(keep, unused_for);
    lock.lock();
  };
  while (!stopping_) {
    if (sessions_ > 0) {
      changed_.wait_for(lock, policy_.between_looks, [&] { return stopping_ || sessions_ == 0; });
      if (sessions_ > 0 && !stopping_) tidy_unlocked(policy_.bytes, policy_.after_use);
    } else if (is_tidy_) {
      changed_.wait(lock, [&] { return stopping_ || sessions_ > 0 || !is_tidy_; });
    } else {
      const auto is_needed = [&] { return stopping_ || sessions_ > 0; };
      if (changed_.wait_for(lock, policy_.after_sessions, is_needed)) continue;
      is_tidy_ = true;
      tidy_unlocked(policy_.bytes, {});
    }
  }
}

void Housekeeper::tidy(std::uint64_t keep, std::chrono::milliseconds unused_for) const {
  const std::uint64_t freed = backend_.trim(keep, unused_for) + trim_host_blocks(0, unused_for);
  const bool is_deserted = unused_for.count() == 0;
  if (is_deserted || freed >= kWorthTrimming) trim_heap();
}

}  // namespace burn::session
