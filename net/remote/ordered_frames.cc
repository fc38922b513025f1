#include "net/remote/ordered_frames.h"

#include <utility>

#include <fmt/format.h>

namespace burn::net {

void OrderedFrames::add(OrderedFrame frame) {
  last_seq_ = frame.seq;
  bytes_ += frame.frame.size();
  frames_.push_back(std::move(frame));
}

void OrderedFrames::pop() {
  bytes_ -= frames_.front().frame.size();
  frames_.pop_front();
}

std::optional<OrderedFrame> OrderedFrames::next(std::uint64_t window) {
  if (sent_ == frames_.size() || frames_[sent_].seq - acknowledged_ > window) return std::nullopt;
  if (keeps_) return frames_[sent_++];
  bytes_ -= frames_.front().frame.size();
  std::optional<OrderedFrame> frame{std::move(frames_.front())};
  frames_.pop_front();
  return frame;
}

Status OrderedFrames::acknowledge(std::uint64_t seq) {
  if (seq < acknowledged_ || seq > last_sent()) {
    return invalid_argument(
        fmt::format("an ack of {}; between {} and {} are under way", seq, acknowledged_, last_sent()));
  }
  acknowledged_ = seq;
  for (; sent_ > 0 && frames_.front().seq <= seq; --sent_) pop();
  return {};
}

Result<std::uint64_t> OrderedFrames::resume(std::uint64_t received) {
  const std::uint64_t sent = last_sent();
  if (received < acknowledged_ || received > sent) {
    return invalid_argument(
        fmt::format("frame {} is the last received; between {} and {} were sent", received, acknowledged_, sent));
  }
  while (sent_ > 0 && frames_[sent_ - 1].seq > received) --sent_;
  return sent - received;
}

void OrderedFrames::clear() {
  frames_.clear();
  sent_ = bytes_ = 0;
}

}  // namespace burn::net
