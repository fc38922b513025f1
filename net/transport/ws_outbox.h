// WebSocket frames waiting to be written to a socket. Several small frames leave in one system call; none is copied.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include "net/transport/ws_frame.h"
#include "proto/codec.h"

struct iovec;

namespace burn::net::ws {

// Not thread-safe.
class Outbox {
 public:
  explicit Outbox(Role from) : from_(from) {}

  void add(proto::EncodedFrame frame);  // as one binary message
  void add_raw(std::string bytes) {
    bytes_ += bytes.size();
    pieces_.push_back({std::move(bytes), {}});
  }
  // Whether the contents are enough for a system call. A frame that was added cannot be overtaken any more.
  bool is_enough() const { return bytes_ >= kEnoughBytes || pieces_.size() >= kEnoughPieces; }
  bool empty() const { return pieces_.empty(); }

  // Fills `parts` with the first bytes, `most` at most; returns the number of parts.
  static constexpr std::size_t kMaxParts = 96;
  std::size_t parts(std::span<iovec, kMaxParts> parts, std::size_t most) const;
  // Removes the first `count` bytes, which are written.
  void consume(std::size_t count) {
    bytes_ -= count;
    gone_ += count;
    while (!pieces_.empty() && gone_ >= pieces_.front().size()) {
      gone_ -= pieces_.front().size();
      pieces_.pop_front();
    }
  }
  void clear() {
    pieces_.clear();
    bytes_ = gone_ = 0;
  }

 private:
  static constexpr std::size_t kEnoughBytes = std::size_t{64} << 10;
  static constexpr std::size_t kEnoughPieces = kMaxParts / 3;

  struct Piece {
    std::string prefix;  // the WebSocket header
    proto::EncodedFrame frame;
    std::size_t size() const { return prefix.size() + frame.size(); }
  };

  const Role from_;
  std::deque<Piece> pieces_;
  std::size_t bytes_ = 0;
  std::size_t gone_ = 0;  // bytes of the first piece that are written
};

}  // namespace burn::net::ws
