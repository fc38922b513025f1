#include "serving/fair_gate.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace burn::serving {

FairGate::Place::Place(FairGate& gate, std::shared_ptr<TenantAccount> tenant) : tenant_(std::move(tenant)) {
  if (!tenant_) return;
  gate_ = &gate;
  gate.join(*this);
}

FairGate::Place::Place(Place&& other) noexcept
    : gate_(std::exchange(other.gate_, nullptr)),
      tenant_(std::move(other.tenant_)),
      claim_(std::exchange(other.claim_, nullptr)) {}

FairGate::Place::~Place() {
  if (gate_) gate_->leave(*this);
}

FairGate::Turn::Turn(Turn&& other) noexcept
    : gate_(std::exchange(other.gate_, nullptr)),
      claim_(other.claim_),
      begin_(other.begin_),
      expected_(other.expected_) {}

FairGate::Turn::~Turn() {
  if (gate_) gate_->end(*claim_, Clock::now() - begin_, expected_);
}

void FairGate::join(Place& place) {
  const std::lock_guard lock{mutex_};
  auto& claim = claims_[place.tenant_.get()];
  if (!claim) claim = std::make_unique<Claim>(Claim{.tenant = *place.tenant_, .finish = now_});
  ++claim->places;
  place.claim_ = claim.get();
  tenants_ = claims_.size();
}

void FairGate::leave(Place& place) {
  const std::lock_guard lock{mutex_};
  if (--place.claim_->places == 0) {
    if (holder_ == place.claim_) holder_ = nullptr;
    claims_.erase(place.tenant_.get());
  }
  tenants_ = claims_.size();
}

FairGate::Turn FairGate::enter(const Place& place, SessionSignal& signal, bool waits) {
  Turn turn;
  if (!place.gate_) return turn;
  turn.claim_ = place.claim_;
  Waiter waiter{.claim = place.claim_, .signal = &signal, .priority = place.tenant_->priority()};
  if (is_shared() && waits) {
    const auto asked = Clock::now();
    std::unique_lock lock{mutex_};
    waiter.start = std::max(now_, place.claim_->finish);
    waiting_.push_back(&waiter);
    call_next();
    lock.unlock();
    const bool has_turn = waiter.has_turn || signal.wait([&] { return waiter.has_turn.load(); });
    place.tenant_->count_queue(Clock::now() - asked);
    if (!has_turn) {
      lock.lock();
      if (!waiter.has_turn) {
        waiting_.remove(&waiter);
        call_next();
        return turn;  // the session is over
      }
    }
    turn.expected_ = waiter.expected;
  } else {
    const std::lock_guard lock{mutex_};
    turn.expected_ = begin(*place.claim_, std::max(now_, place.claim_->finish));
  }
  turn.gate_ = this;
  turn.begin_ = Clock::now();
  return turn;
}

// The next waiter: by class, then by virtual start time, then by arrival.
std::list<FairGate::Waiter*>::iterator FairGate::first() {
  return std::ranges::min_element(waiting_, {}, [](const Waiter* waiter) {
    return std::tuple{waiter->priority, waiter->start};
  });
}

bool FairGate::may_run(const Claim& claim) const { return turns_ == 0 || holder_ == &claim; }

// Runs of a tenant that wait and begin together have the same start; each advances the finish time further.
double FairGate::begin(Claim& claim, double start) {
  now_ = std::max(now_, start);
  claim.finish = std::max(claim.finish, start) + claim.expected / std::max(claim.tenant.weight(), 1U);
  if (turns_ == 0) holder_ = &claim;  // a run that must not wait may begin beside another tenant's
  ++claim.running;
  ++turns_;
  return claim.expected;
}

void FairGate::call_next() {
  for (auto next = first(); next != waiting_.end() && may_run(*(*next)->claim); next = first()) {
    Waiter& waiter = **next;
    waiting_.erase(next);
    waiter.expected = begin(*waiter.claim, waiter.start);
    SessionSignal& signal = *waiter.signal;  // the waiter may be destroyed as soon as it has its turn
    waiter.has_turn = true;
    signal.notify();
  }
}

void FairGate::end(Claim& claim, Clock::duration taken, double expected) {
  const double seconds = Seconds{taken}.count();
  claim.tenant.count_device(taken);
  const std::lock_guard lock{mutex_};
  const double weight = std::max(claim.tenant.weight(), 1U);
  claim.finish += (seconds - expected) / weight;
  claim.expected += (seconds - claim.expected) / 4;
  --claim.running;
  --turns_;
  if (!waiting_.empty()) call_next();
}

}  // namespace burn::serving
