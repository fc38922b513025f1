#include "serving/call_queue.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace burn::serving {
namespace {

// Calls of up to kSmall bytes are never refused, nor the first kAlways bytes of larger calls: a session without memory
// must be able to release some, and to get errors from calls that need it.
constexpr std::uint64_t kSmall = std::uint64_t{4} << 10;
constexpr std::uint64_t kAlways = std::uint64_t{1} << 20;

}  // namespace

CallQueue::CallQueue(const Quotas& quotas, Budget& budget)
    : in_flight_(quotas.in_flight),
      most_waiting_bytes_(std::max<std::uint64_t>(quotas.waiting_bytes, quotas.in_flight * proto::kInlineBytes)),
      most_held_bytes_(quotas.queue_bytes),
      budget_(budget) {}

Status CallQueue::admit(const Call& call) {
  const auto held = held_bytes(call), charged = held + written_bytes(call);
  if (held > kSmall && held_bytes_ + held > most_held_bytes_) {
    return resource_exhausted(
        fmt::format("{} bytes of calls wait, {} more exceed what may, {}", held_bytes_, held, most_held_bytes_));
  }
  const bool is_free = held <= kSmall || held_bytes_ + held <= kAlways;
  if (!is_free || charged - held > kSmall) return budget_.take_host(charged);
  budget_.add_host(charged);
  return {};
}

void CallQueue::push(Call call) {
  waiting_bytes_ += written_bytes(call);
  held_bytes_ += held_bytes(call);
  calls_.push_back({std::move(call), Clock::now()});
}

Call CallQueue::pop(bool* makes_room, std::chrono::nanoseconds* waited) {
  auto call = std::move(calls_.front().call);
  *waited = Clock::now() - calls_.front().since;
  calls_.pop_front();
  if (looked_at_ > 0) --looked_at_;
  const auto written = written_bytes(call), held = held_bytes(call);
  waiting_bytes_ -= written;
  held_bytes_ -= held;
  budget_.give_host(written + held);
  *makes_room = calls_.size() + 1 >= in_flight_ || written > 0;
  return call;
}

std::vector<Call> CallQueue::clear() {
  budget_.give_host(waiting_bytes_ + held_bytes_);
  waiting_bytes_ = held_bytes_ = 0;
  looked_at_ = 0;
  std::vector<Call> rest;
  for (auto& waiting : std::exchange(calls_, {})) rest.push_back(std::move(waiting.call));
  return rest;
}

}  // namespace burn::serving
