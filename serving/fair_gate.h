// Which run may use a device next, where sessions of several tenants want to: start-time fair queueing (Goyal, Vin and
// Cheng, 1996) over the seconds that runs take, by the tenants' weights, within classes of which a lower one begins
// nothing while a higher one waits. Runs are not interrupted, so a wait is bounded by what runs before it. Runs of one
// tenant do not wait for each other.
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

// Of one device. Thread-safe. Outlives places and turns.
class FairGate {
  struct Claim;

 public:
  using Clock = std::chrono::steady_clock;

  // A session's place, for as long as it lives. Without a tenant it never waits.
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

  // A run's turn, to its end.
  class Turn {
   public:
    Turn() = default;
    Turn(Turn&& other) noexcept;
    Turn& operator=(Turn&&) = delete;
    ~Turn();

   private:
    friend class FairGate;
    FairGate* gate_ = nullptr;  // null: nothing is held
    Claim* claim_ = nullptr;
    Clock::time_point begin_;
    double expected_ = 0;  // seconds, by which the tenant was charged at the beginning
  };

  // Waits for the place's turn, or until the session closes: then nothing is held. `waits`: false for a run that is not
  // to wait; what it takes counts all the same. Places without a tenant, and all where there is one tenant alone, pass
  // at once.
  Turn enter(const Place& place, SessionSignal& signal, bool waits = true);
  // Whether there are sessions of several tenants.
  bool is_shared() const { return tenants_.load(std::memory_order_relaxed) > 1; }

 private:
  using Seconds = std::chrono::duration<double>;
  struct Claim {
    TenantAccount& tenant;
    std::size_t places = 0;
    std::size_t running = 0;  // runs that hold a turn
    double finish = 0;        // the virtual time at which what it was given so far is over
    double expected = 1e-4;   // seconds of a run, by the last ones
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
  // Charges the tenant for the run as it is expected to be. Returns the seconds of that, which end() corrects.
  double begin(Claim& claim, double start);
  void call_next();
  std::list<Waiter*>::iterator first();
  bool may_run(const Claim& claim) const;

  std::atomic<std::size_t> tenants_ = 0;  // with places
  std::mutex mutex_;
  std::unordered_map<TenantAccount*, std::unique_ptr<Claim>> claims_;
  std::list<Waiter*> waiting_;
  Claim* holder_ = nullptr;  // the tenant that has turns
  std::size_t turns_ = 0;    // that are held
  double now_ = 0;           // virtual time
};

}  // namespace burn::serving
