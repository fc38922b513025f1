#include "backends/cpu/runtime/kept_tables.h"

#include <iterator>

#include "base/pages.h"

namespace burn::backends::cpu {

std::shared_ptr<const void> KeptTables::find(const Key& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  entries_.front().used = coarse_milliseconds();
  return entries_.front().table;
}

// If two threads made the same table at the same time, the first is kept. Here and below, dropped tables are destroyed
// after the lock is released: their memory returns to the pool, which has a lock of its own.
void KeptTables::keep(const Key& key, std::shared_ptr<const void> table, std::uint64_t bytes) {
  if (bytes > capacity_) return;
  Entries going;
  const std::lock_guard lock(mutex_);
  if (by_key_.contains(key)) return;
  while (bytes_ > capacity_ - bytes) move_last_to(going);
  entries_.push_front({key, std::move(table), bytes, coarse_milliseconds()});
  by_key_.emplace(key, entries_.begin());
  bytes_ += bytes;
}

void KeptTables::move_last_to(Entries& going) {
  bytes_ -= entries_.back().bytes;
  by_key_.erase(entries_.back().key);
  going.splice(going.end(), entries_, std::prev(entries_.end()));
}

std::uint64_t KeptTables::drop_until(std::uint64_t allowed) {
  Entries going;
  const std::lock_guard lock(mutex_);
  const auto before = bytes_;
  while (bytes_ > allowed) move_last_to(going);
  return before - bytes_;
}

std::uint64_t KeptTables::drop_unused(std::int64_t until) {
  Entries going;
  const std::lock_guard lock(mutex_);
  const auto before = bytes_;
  while (!entries_.empty() && entries_.back().used <= until) move_last_to(going);
  return before - bytes_;
}

std::uint64_t KeptTables::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace burn::backends::cpu
