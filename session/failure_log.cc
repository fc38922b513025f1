#include "session/failure_log.h"

#include <algorithm>

namespace burn::session {

void FailureLog::add(std::uint64_t serial, backends::Failure why) {
  const std::lock_guard lock{mutex_};
  const auto later = std::ranges::upper_bound(entries_, serial, {}, &Entry::serial);
  entries_.insert(later, {serial, std::move(why)});
  if (entries_.size() > kMost) entries_.pop_back();
}

void FailureLog::forget(const backends::Failure& why) {
  const std::lock_guard lock{mutex_};
  std::erase_if(entries_, [&](const Entry& entry) { return entry.why == why; });
}

backends::Failure FailureLog::take(std::uint64_t last) {
  const std::lock_guard lock{mutex_};
  const auto later = std::ranges::upper_bound(entries_, last, {}, &Entry::serial);
  if (later == entries_.begin()) return nullptr;
  auto first = std::move(entries_.front().why);
  entries_.erase(entries_.begin(), later);
  return first;
}

}  // namespace burn::session
