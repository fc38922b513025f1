// Counts the progress that a client waits for: added where frames are handled, read by the watchdog.
//
// A client waits for the question that has been open for the longest, and for what the server must do before it can
// answer it; without questions, for all work that the server has not done. Only progress on these counts: a server that
// answers other questions while the oldest stays open makes none.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "net/remote/progress_timeout.h"

namespace burn::net {

// add() and add_bytes() are thread-safe; is_over() belongs to the watchdog's thread.
class Progress {
 public:
  // `limit`: longest time without progress; 0: none.
  explicit Progress(std::chrono::milliseconds limit) : timeout_(limit) {}

  // Something that the client waits for has arrived, completely or in part.
  void add() { has_whole_.store(true, std::memory_order_relaxed); }
  void add_bytes(std::uint64_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }

  // As ProgressTimeout::is_over(), with the progress since the last call.
  bool is_over(ProgressTimeout::Clock::time_point now, bool is_waiting, bool is_connected,
               std::chrono::milliseconds lease) {
    return timeout_.is_over(now,
                            {.is_waiting = is_waiting,
                             .is_connected = is_connected,
                             .progress = has_whole_.exchange(false),
                             .bytes = bytes_.exchange(0)},
                            lease);
  }

 private:
  std::atomic<bool> has_whole_ = false;
  std::atomic<std::uint64_t> bytes_ = 0;
  ProgressTimeout timeout_;
};

}  // namespace burn::net
