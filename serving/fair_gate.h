// Decides which run may use a device next, among sessions of several tenants: start-time fair queueing (Goyal, Vin and
// Cheng, 1996) of the seconds that runs take, by the tenants' weights. Within priority classes: no run of a lower class
// begins while one of a higher class waits. Runs are not preempted, so a wait is bounded by the runs before it. Runs of
// one tenant do not wait for each other.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "serving/signal.h"
#include "serving/tenant_account.h"

namespace burn::serving {

// One per device. Thread-safe. Must outlive its places and turns.
class FairGate {
  struct Claim;

 public:
  using Clock = std::chrono::steady_clock;

  // A session's registration, for as long as the session lives. Without a tenant it never waits.
  class Place {
   public:
    Place() = default;
    Place(FairGate& gate, std::shared_ptr<TenantAccount> tenant);
    Place(Place&& other) noexcept;
    Place& operator=(Place&&) = delete;
    ~Place();

   private:
    friend class FairGate;
    FairGate* gate_ = nullptr;
    std::shared_ptr<TenantAccount> tenant_;
    Claim* claim_ = nullptr;
  };

  // Permission to run, held until the run ends.
  class Turn {
   public:
    Turn() = default;
    Turn(Turn&& other) noexcept;
    Turn& operator=(Turn&&) = delete;
    ~Turn();

   private:
    friend class FairGate;
    FairGate* gate_ = nullptr;  // null: no turn is held
    Claim* claim_ = nullptr;
    Clock::time_point begin_;
    double expected_ = 0;  // seconds charged to the tenant at the beginning
  };

  // Waits for the place's turn, or until the session closes: then the result holds no turn. `waits`: false for a run
  // that must not wait; its time is charged all the same. Does not wait without a tenant, or if there is only one
  // tenant.
  Turn enter(const Place& place, SessionSignal& signal, bool waits = true);
  // Whether there are sessions of several tenants.
  bool is_shared() const { return tenants_.load(std::memory_order_relaxed) > 1; }

 private:
  using Seconds = std::chrono::duration<double>;
  struct Claim {
    TenantAccount& tenant;
    std::size_t places = 0;
    std::size_t running = 0;  // runs that hold a turn
    double finish = 0;        // virtual finish time of its runs so far
    double expected = 1e-4;   // estimated seconds of a run, from previous ones
  };
  struct Waiter {
    Claim* claim = nullptr;
    SessionSignal* signal = nullptr;
    TenantClass priority = TenantClass::normal;
    double start = 0;     // virtual
    double expected = 0;  // seconds, once it has its turn
    std::atomic<bool> has_turn = false;
  };

  void join(Place& place);
  void leave(Place& place);
  void end(Claim& claim, Clock::duration taken, double expected);
  // The following require the lock.
  // Charges the tenant for the expected seconds of a run, and returns them for end() to correct.
  double begin(Claim& claim, double start);
  void call_next();
  std::list<Waiter*>::iterator first();
  bool may_run(const Claim& claim) const;

  std::atomic<std::size_t> tenants_ = 0;  // with places
  std::mutex mutex_;
  std::unordered_map<TenantAccount*, std::unique_ptr<Claim>> claims_;
  std::list<Waiter*> waiting_;
  Claim* holder_ = nullptr;  // the tenant whose waiting runs may begin while turns are held
  std::size_t turns_ = 0;    // held now
  double now_ = 0;           // virtual time
};

}  // namespace burn::serving
