// Gives memory that lies idle back to the system: a thread that sleeps until the last session has gone, and looks up
// now and then while there are some.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "backends/backend.h"

namespace burn::session {

// What a worker keeps of memory that nothing is in, and for how long it keeps the rest.
struct IdleMemory {
  std::uint64_t bytes = std::uint64_t{64} << 20;
  std::chrono::milliseconds after_sessions{2'000};  // since the last session has gone
  std::chrono::milliseconds after_use{30'000};      // while there are sessions: since something was in it
  std::chrono::milliseconds between_looks{2'000};   // while there are sessions
};

class PlanCache;

// Thread-safe.
class Housekeeper {
 public:
  // The backend and the plans (null: there are none) outlive it.
  Housekeeper(backends::Backend& backend, const IdleMemory& policy, PlanCache* plans = nullptr);
  ~Housekeeper();
  Housekeeper(const Housekeeper&) = delete;
  Housekeeper& operator=(const Housekeeper&) = delete;

  // For the end of the process: waits for what a housekeeper gives back at the moment, and lets none begin again. The
  // libraries whose caches are dropped then destroy them before this thread could notice.
  static void end_all();

  void count_session(int change);
  std::uint64_t sessions() const;

 private:
  void work();
  void tidy(std::uint64_t keep, std::chrono::milliseconds unused_for) const;
  void tidy_deserted() const;

  backends::Backend& backend_;
  const IdleMemory policy_;
  PlanCache* const plans_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t sessions_ = 0;
  bool is_tidy_ = true;  // since the last session has gone
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace burn::session
