// The failures of a session that no answer has told of yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>

#include "base/failure.h"

namespace burn::serving {

// In the order of the calls that failed, whenever it was found out. Thread-safe: the device finds some on its own
// threads.
class FailureLog {
 public:
  static constexpr std::size_t kMaxEntries = 1024;  // the first ones are kept

  // The call with this number failed. `hidden`: it left its outputs as they were, so that no read of them says so: the
  // next read of anything does.
  void add(std::uint64_t serial, Failure why, bool hidden = false);
  // A read has said so: no sync needs to, nor does another read tell what else failed in the same call.
  void forget(const Failure& why);
  // The first hidden failure of the calls up to `last`; all these are forgotten. Null: there is none.
  Failure take_hidden(std::uint64_t last);
  // The first failure of the calls up to `last`, which are all forgotten; null: there is none.
  Failure take(std::uint64_t last);

 private:
  struct Entry {
    std::uint64_t serial;
    Failure why;
    bool hidden;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
  std::atomic<std::size_t> hidden_ = 0;  // of these: nearly always 0, and asked for by every read
};

}  // namespace burn::serving
