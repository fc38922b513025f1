// Tensors waiting to be sent to the server, in chunks as its credit allows. If the session can be resumed, they are
// held until the server has received them completely.
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
  // Sets how many bytes may be in flight, and whether tensors are held until the server has them. Parts added before
  // stay. Requires: nothing was sent; 0 < credit <= kMaxCredit.
  void open(std::uint64_t credit, bool holds) {
    holds_ = holds;
    start(credit);
  }

  // Adds a whole tensor. Requires: its Write, the ordered frame `seq`, is sent; `bytes` is not empty.
  void add(std::uint64_t seq, proto::TensorId id, SharedBytes bytes);
  // Adds the bytes from `offset` on of a tensor that is sent in successive parts. Parts of several tensors are sent in
  // the order in which they are added. They are not held.
  void add_part(std::uint64_t seq, proto::TensorId id, std::uint64_t offset, SharedBytes bytes);
  // The largest credit. No server needs more bytes in flight: credit beyond it is a mistake or an attack.
  static constexpr std::uint64_t kMaxCredit = std::uint64_t{1} << 30;  // bytes
  // Adds credit. Returns how many of the sent bytes the server has thereby consumed; credit beyond the bytes sent shows
  // no progress. Errors: OUT_OF_RANGE, with the numbers, when the credit would exceed kMaxCredit.
  Result<std::uint64_t> grant(std::uint64_t bytes);
  // The next chunk, if there is one and it fits into the credit. `sent_seq`: the last ordered frame that is sent; parts
  // of later ones wait.
  std::optional<proto::Frame> next(std::uint64_t sent_seq);
  // Continues over another connection. `received`: how much of each incomplete tensor has arrived; `received_seq`: the
  // last ordered frame that has. Errors: INVALID_ARGUMENT for more than a tensor has.
  Status resume(std::uint64_t credit, std::span<const proto::Chunk> received, std::uint64_t received_seq);
  void clear();

  std::uint64_t waiting_bytes() const { return waiting_; }                  // not yet returned by next()
  std::uint64_t waiting_part_bytes() const { return waiting_part_bytes_; }  // the share of parts in waiting_bytes()
  std::size_t held() const { return uploads_.size(); }                      // tensors

 private:
  struct Upload {
    std::uint64_t seq = 0;
    proto::TensorId id = 0;
    SharedBytes bytes;
    std::uint64_t sent = 0;
    std::uint64_t end = 0;  // total_sent_ when all of it was sent
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
  std::deque<Upload> uploads_;  // the first `sent_` are sent
  std::size_t sent_ = 0;
  std::deque<Part> parts_;
  std::uint64_t waiting_ = 0, waiting_part_bytes_ = 0;
  std::uint64_t credit_ = 0;
  std::uint64_t piece_ = 0;  // size of chunks, at most the initial credit
  // Bytes on this connection: those sent, and those that the server has consumed, as it grants credit for them again.
  std::uint64_t total_sent_ = 0, total_granted_ = 0;
  std::uint64_t total_taken_ = 0;  // granted bytes that had been sent when granted
};

}  // namespace burn::net
