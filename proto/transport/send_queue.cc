#include "proto/transport/send_queue.h"

#include <utility>

namespace burn::proto {

bool SendQueue::push(EncodedFrame frame, Lane lane) {
  std::lock_guard lock(mutex_);
  if (closed_) return false;
  waiting_ += frame.size();
  lanes_[static_cast<std::size_t>(lane)].push_back(std::move(frame));
  return !std::exchange(pumping_, true);
}

bool SendQueue::close() {
  std::lock_guard lock(mutex_);
  if (std::exchange(closed_, true)) return false;
  return !std::exchange(pumping_, true);
}

SendQueue::Next SendQueue::next() {
  std::lock_guard lock(mutex_);
  writing_ = 0;
  for (auto& lane : lanes_) {
    if (lane.empty()) continue;
    Next next{.frame = std::move(lane.front())};
    lane.pop_front();
    writing_ = next.frame->size();
    waiting_ -= writing_;
    return next;
  }
  pumping_ = closed_;  // once closed there is nothing to start the pump for
  return {.frame = std::nullopt, .finished = closed_};
}

void SendQueue::discard() {
  std::array<std::deque<EncodedFrame>, 2> dropped;  // destroyed outside the lock: payloads may be large
  std::lock_guard lock(mutex_);
  closed_ = true;
  pumping_ = true;
  waiting_ = writing_ = 0;
  std::swap(dropped, lanes_);
}

std::size_t SendQueue::bytes() const {
  std::lock_guard lock(mutex_);
  return waiting_ + writing_;
}

}  // namespace burn::proto
