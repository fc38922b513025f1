// The failures of a session that have not been reported in an answer yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/failure.h"

namespace burn::serving {

// Sorted by the calls that failed, not by when a failure was found. Thread-safe: the device finds some on its own
// threads.
class FailureLog {
 public:
  static constexpr std::size_t kMaxEntries = 1024;  // later ones are dropped

  // Adds a failure of the call with this number. `hidden`: the call left its outputs unchanged, so that reading them
  // does not report it: the next read of any tensor does.
  void add(std::uint64_t serial, Failure why, bool hidden = false);
  // Removes a failure that a read has reported, and hidden failures of the same call.
  void forget(const Failure& why);
  // Returns the first hidden failure of the calls up to `last` and removes all of them. Null: there is none.
  Failure take_hidden(std::uint64_t last);
  // Returns the first failure of the calls up to `last` and removes all of them. Null: there is none.
  Failure take(std::uint64_t last);

 private:
  struct Entry {
    std::uint64_t serial;
    Failure why;
    bool hidden;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::atomic<std::size_t> hidden_ = 0;  // number of hidden entries: nearly always 0, and checked by every read
};

}  // namespace burn::serving
