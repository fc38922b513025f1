#include "serving/failure_log.h"

#include <algorithm>

namespace burn::serving {

void FailureLog::add(std::uint64_t serial, Failure why, bool hidden) {
  const std::lock_guard lock{mutex_};
  const auto later = std::ranges::upper_bound(entries_, serial, {}, &Entry::serial);
  entries_.insert(later, {serial, std::move(why), hidden});
  if (hidden) ++hidden_;
  if (entries_.size() <= kMaxEntries) return;
  if (entries_.back().hidden) --hidden_;
  entries_.pop_back();
}

void FailureLog::forget(const Failure& why) {
  const std::lock_guard lock{mutex_};
  const auto told = std::ranges::find(entries_, why, &Entry::why);
  if (told == entries_.end()) return;
  std::erase_if(entries_, [&, serial = told->serial](const Entry& entry) {
    const bool goes = entry.why == why || (entry.hidden && entry.serial == serial);
    if (goes && entry.hidden) --hidden_;
    return goes;
  });
}

Failure FailureLog::take_hidden(std::uint64_t last) {
  if (hidden_ == 0) return nullptr;
  const std::lock_guard lock{mutex_};
  Failure first;
  std::erase_if(entries_, [&](const Entry& entry) {
    if (!entry.hidden || entry.serial > last) return false;
    if (!first) first = entry.why;
    --hidden_;
    return true;
  });
  return first;
}

Failure FailureLog::take(std::uint64_t last) {
  const std::lock_guard lock{mutex_};
  const auto later = std::ranges::upper_bound(entries_, last, {}, &Entry::serial);
  if (later == entries_.begin()) return nullptr;
  auto first = std::move(entries_.front().why);
  hidden_ -= static_cast<std::size_t>(std::count_if(entries_.begin(), later, [](const Entry& e) { return e.hidden; }));
  entries_.erase(entries_.begin(), later);
  return first;
}

}  // namespace burn::serving
