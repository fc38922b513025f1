// Returns idle memory to the system, on a thread that wakes when the last session has ended, and periodically while
// there are sessions.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "backends/backend.h"

namespace burn::session {

// How much unused memory a worker keeps, and for how long it keeps the rest.
struct IdleMemory {
  std::uint64_t bytes = std::uint64_t{64} << 20;
  std::chrono::milliseconds after_sessions{2'000};  // since the last session ended
  std::chrono::milliseconds after_use{30'000};      // while there are sessions: since the memory was used
  std::chrono::milliseconds between_looks{2'000};   // while there are sessions
};

class PlanCache;

// Thread-safe.
class Housekeeper {
 public:
  // The backend and the plans (may be null) must outlive it.
  Housekeeper(backends::Backend& backend, const IdleMemory& policy, PlanCache* plans = nullptr);
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

  // For the end of the process: waits until no housekeeper is freeing memory, and lets none begin again. The libraries
  // whose caches it clears are destroyed then, without this thread noticing.
  static void end_all();

  void count_session(int change);
  std::uint64_t sessions() const;

 private:
  void work();
  void tidy(std::uint64_t keep, std::chrono::milliseconds unused_for) const;
  void trim_without_sessions() const;

  backends::Backend& backend_;
  const IdleMemory policy_;
  PlanCache* const plans_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t sessions_ = 0;
  bool is_tidy_ = true;  // memory was trimmed since the last session ended
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace burn::session
