// Tensors on their way to the server, cut into chunks as its credit allows. If the session can be resumed they are held
// until the server has all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/status.h"
#include "proto/message.h"

namespace burn::net {

// Not thread-safe.
class UploadQueue {
 public:
  // Sets how many bytes may be under way, and whether tensors are held until the server has them. Parts that were added
  // before stay. Requires: nothing was sent; 0 < credit <= kMaxCredit.
  void open(std::uint64_t credit, bool holds) {
    holds_ = holds;
    start(credit);
  }

  // Requires: its Write, the ordered frame `seq`, is sent; bytes is not empty.
  void add(std::uint64_t seq, proto::TensorId id, SharedBytes bytes);
  // The bytes from `offset` on of a tensor that comes in parts, one after the other. Parts of several tensors leave in
  // the order in which they are added. They are not held.
  void add_part(std::uint64_t seq, proto::TensorId id, std::uint64_t offset, SharedBytes bytes);
  // More than this the server need never have under way: credit beyond it is a mistake or a trick.
  static constexpr std::uint64_t kMaxCredit = std::uint64_t{1} << 30;  // bytes
  // How many bytes of those that were sent the server has taken with this: granting others is no sign that it gets on.
  // Errors: OUT_OF_RANGE, with the numbers, when the credit would be more than kMaxCredit.
  Result<std::uint64_t> grant(std::uint64_t bytes);
  // The next chunk, if there is one and all of it fits into the credit. `sent_seq`: the last ordered frame that is
  // sent; parts of later ones wait.
  std::optional<proto::Frame> next(std::uint64_t sent_seq);
  // Goes on over another connection: what has come of the tensors that are not whole, and the last ordered frame that
  // has. Errors: INVALID_ARGUMENT for more than a tensor has.
  Status resume(std::uint64_t credit, std::span<const proto::Chunk> received, std::uint64_t received_seq);
  void clear();

  std::uint64_t waiting_bytes() const { return waiting_; }                  // not yet handed out by next()
  std::uint64_t waiting_part_bytes() const { return waiting_part_bytes_; }  // of these
  std::size_t held() const { return uploads_.size(); }                      // tensors

 private:
  struct Upload {
    std::uint64_t seq = 0;
    proto::TensorId id = 0;
    SharedBytes bytes;
    std::uint64_t sent = 0;
    std::uint64_t end = 0;  // once all of it is sent: how many bytes were by then
  };

  struct Part {
    std::uint64_t seq = 0;
    proto::TensorId id = 0;
    std::uint64_t offset = 0;
    SharedBytes bytes;
  };

  void start(std::uint64_t credit);
  proto::Frame take(proto::TensorId id, std::uint64_t offset, SharedBytes bytes);
  std::optional<proto::Frame> next_part();
  void let_go();

  bool holds_ = false;
  std::deque<Upload> uploads_;  // the first sent_ of them are sent
  std::size_t sent_ = 0;
  std::deque<Part> parts_;
  std::uint64_t waiting_ = 0, waiting_part_bytes_ = 0;
  std::uint64_t credit_ = 0;
  std::uint64_t piece_ = 0;  // chunks are this large: never more than the credit can become
  // Of this connection, in bytes: what was sent, and what the server has consumed, as it grants that again.
  std::uint64_t total_sent_ = 0, total_granted_ = 0;
  std::uint64_t total_taken_ = 0;  // of those granted, which had been sent by then
};

}  // namespace burn::net
