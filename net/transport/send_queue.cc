#include "net/transport/send_queue.h"

#include <utility>

namespace burn::net {
namespace {

std::size_t cost(const proto::EncodedFrame& frame) { return frame.size() + SendQueue::kFrameBytes; }

}  // namespace

bool SendQueue::push(proto::EncodedFrame frame, proto::Lane lane) {
  const MutexLock lock(mutex_);
  if (closed_) return false;
  waiting_ += cost(frame);
  lanes_[static_cast<std::size_t>(lane)].push_back(std::move(frame));
  return bursts_ == 0 && !std::exchange(pumping_, true);
}

void SendQueue::begin_burst() {
  const MutexLock lock(mutex_);
  ++bursts_;
}

bool SendQueue::end_burst() {
  const MutexLock lock(mutex_);
  return --bursts_ == 0 && start_pump();
}

bool SendQueue::flush() {
  const MutexLock lock(mutex_);
  return start_pump();
}

bool SendQueue::start_pump() {
  if (lanes_[0].empty() && lanes_[1].empty()) return false;
  return !std::exchange(pumping_, true);
}

bool SendQueue::close() {
  const MutexLock lock(mutex_);
  if (std::exchange(closed_, true)) return false;
  return !std::exchange(pumping_, true);
}

bool SendQueue::wake() {
  const MutexLock lock(mutex_);
  return !std::exchange(pumping_, true);
}

bool SendQueue::discard() {
  std::array<std::deque<proto::EncodedFrame>, 2> dropped;  // destroyed outside the lock: payloads may be large
  const MutexLock lock(mutex_);
  closed_ = discarded_ = true;
  waiting_ = writing_ = 0;
  std::swap(dropped, lanes_);
  return !std::exchange(pumping_, true);
}

SendQueue::Next SendQueue::next(bool stay) {
  const MutexLock lock(mutex_);
  for (auto& lane : lanes_) {
    if (lane.empty()) continue;
    Next next{.frame = std::move(lane.front())};
    lane.pop_front();
    writing_ += cost(*next.frame);
    waiting_ -= cost(*next.frame);
    return next;
  }
  pumping_ = stay || closed_;  // after close() the pump counts as running, so it is not started again
  return {.frame = std::nullopt, .finished = closed_ && !discarded_};
}

void SendQueue::written() {
  const MutexLock lock(mutex_);
  writing_ = 0;
}

bool SendQueue::is_closed() const {
  const MutexLock lock(mutex_);
  return closed_;
}

bool SendQueue::has_bulk() const {
  const MutexLock lock(mutex_);
  return !lanes_[static_cast<std::size_t>(proto::Lane::bulk)].empty();
}

std::size_t SendQueue::bytes() const {
  const MutexLock lock(mutex_);
  return waiting_ + writing_;
}

}  // namespace burn::net
