// Numbered frames, from their creation until the server has executed them. If the session can be resumed they are kept
// that long, so that frames lost with a connection can be sent again.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/status.h"
#include "proto/codec.h"

namespace burn::net {

struct OrderedFrame {
  std::uint64_t seq = 0;
  proto::EncodedFrame frame;
  std::optional<proto::TensorId> upload_id;  // set for a Write whose chunks follow
  SharedBytes upload;
};

// Not thread-safe.
class OrderedFrames {
 public:
  // From now on frames are kept. Requires: none was sent.
  void keep() { keeps_ = true; }

  std::uint64_t last_seq() const { return last_seq_; }
  std::uint64_t last_sent() const { return sent_ < frames_.size() ? frames_[sent_].seq - 1 : last_seq_; }
  std::uint64_t next_seq() const { return last_seq_ + 1; }
  std::uint64_t acknowledged() const { return acknowledged_; }
  std::uint64_t unacknowledged() const { return last_seq_ - acknowledged_; }
  std::size_t bytes() const { return bytes_; }  // of the frames held here

  // Requires: its seq is next_seq().
  void add(OrderedFrame frame);
  // The next frame to send, if it is within the window.
  std::optional<OrderedFrame> next(std::uint64_t window);
  // Errors: INVALID_ARGUMENT for a frame that is not in flight.
  Status acknowledge(std::uint64_t seq);
  // Frames after `received` will be sent again. Returns their number, or INVALID_ARGUMENT if `received` was not sent.
  Result<std::uint64_t> resume(std::uint64_t received);
  void clear();

 private:
  void pop();

  std::deque<OrderedFrame> frames_;  // the first `sent_` are sent
  std::size_t sent_ = 0;
  std::size_t bytes_ = 0;
  std::uint64_t last_seq_ = 0;
  std::uint64_t acknowledged_ = 0;
  bool keeps_ = false;
};

}  // namespace burn::net
