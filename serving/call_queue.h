// The calls of a session that wait for their turn, and how much may.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

#include "base/status.h"
#include "serving/budget.h"
#include "serving/calls.h"
#include "serving/quotas.h"

namespace burn::serving {

// Of the session, under its lock. What waits is charged to the session's budget by its real size.
class CallQueue {
 public:
  // `budget` outlives it.
  CallQueue(const Quotas& quotas, Budget& budget);
  ~CallQueue() { clear(); }
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Whether a call that writes so many bytes need not wait for others. One tensor may always, whatever its size.
  bool has_room(std::uint64_t written) const {
    return calls_.size() < in_flight_ &&
           (written == 0 || waiting_bytes_ == 0 || waiting_bytes_ + written <= most_waiting_bytes_);
  }
  // Room for what the call holds. Errors: RESOURCE_EXHAUSTED; small calls, and a megabyte of others, are always let in.
  Status admit(const Call& call);
  void admit_small(const Call& call) { budget_.add_host(held_by(call) + written_by(call)); }
  // Requires: it was admitted.
  void push(Call call);
  // Requires: not empty. `makes_room`: callers may have waited for it to go. `waited`: since push().
  Call pop(bool* makes_room, std::chrono::nanoseconds* waited);
  std::vector<Call> clear();

  // Calls body(program) for the runs among the first so many calls, once for each.
  template <typename Body>
  void look_ahead(std::size_t most, const Body& body) {
    for (; looked_at_ < std::min(most, calls_.size()); ++looked_at_) {
      if (const auto* call = std::get_if<proto::RunProgram>(&calls_[looked_at_].call)) body(call->run.program);
    }
  }

  bool empty() const { return calls_.empty(); }
  std::size_t size() const { return calls_.size(); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Call call;
    Clock::time_point since;
  };

  const std::uint64_t in_flight_, most_waiting_bytes_, most_held_bytes_;
  Budget& budget_;
  std::deque<Waiting> calls_;
  std::size_t looked_at_ = 0;        // of the first calls
  std::uint64_t waiting_bytes_ = 0;  // of tensors to be written
  std::uint64_t held_bytes_ = 0;     // of everything else
};

}  // namespace burn::serving
