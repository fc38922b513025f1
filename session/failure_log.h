// The failures of a session that nobody has been told of yet.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>

#include "backends/stream.h"

namespace burn::session {

// In the order of the calls that failed, whenever it was found out. Thread-safe: the device finds some on its own
// threads.
class FailureLog {
 public:
  static constexpr std::size_t kMost = 1024;  // the first ones are kept

  // The call with this number failed.
  void add(std::uint64_t serial, backends::Failure why);
  // A read has said so: no sync needs to.
  void forget(const backends::Failure& why);
  // The first failure of the calls up to `last`, which are all forgotten; null: there is none.
  backends::Failure take(std::uint64_t last);

 private:
  struct Entry {
    std::uint64_t serial;
    backends::Failure why;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace burn::session
