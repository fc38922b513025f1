// The waiting calls of a session, and the limits on them.
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

// Guarded by the session's lock. Waiting calls are charged to the session's budget with their real size.
class CallQueue {
 public:
  // `budget` must outlive it.
  CallQueue(const Quotas& quotas, Budget& budget);
  ~CallQueue() { clear(); }
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;

  // Whether a call that writes `written` bytes can be queued now. A tensor of any size can if no other waits.
  bool has_room(std::uint64_t written) const {
    return calls_.size() < in_flight_ &&
           (written == 0 || waiting_bytes_ == 0 || waiting_bytes_ + written <= most_waiting_bytes_);
  }
  // Charges the memory of the call. Errors: RESOURCE_EXHAUSTED; small calls, and a megabyte of others, are always
  // admitted.
  Status admit(const Call& call);
  void admit_small(const Call& call) { budget_.add_host(held_bytes(call) + written_bytes(call)); }
  // Requires: it was admitted.
  void push(Call call);
  // Requires: not empty. `makes_room`: whether callers may be waiting for this call to leave. `waited`: time since
  // push().
  Call pop(bool* makes_room, std::chrono::nanoseconds* waited);
  std::vector<Call> clear();

  // Calls body(program) for the runs among the first `most` calls, once for each run.
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
  std::size_t looked_at_ = 0;        // number of the first calls that look_ahead() has visited
  std::uint64_t waiting_bytes_ = 0;  // of tensors to be written
  std::uint64_t held_bytes_ = 0;     // of everything else
};

}  // namespace burn::serving
