// Tensors on their way to the server, cut into chunks as its credit allows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/bytes.h"
#include "base/status.h"
#include "proto/message.h"

namespace burn::net {

// Not thread-safe.
class UploadQueue {
 public:
  UploadQueue() = default;
  explicit UploadQueue(std::uint64_t credit)
      : credit_(credit), piece_(std::min<std::uint64_t>(credit, proto::kChunkBytes)) {}

  // Requires: its Write is sent; bytes is not empty.
  void add(proto::TensorId id, SharedBytes bytes);
  // Errors: OUT_OF_RANGE when the sum leaves 63 bits.
  Status grant(std::uint64_t bytes);
  // The next chunk, if there is one and all of it fits into the credit.
  std::optional<proto::Frame> next();
  void clear();

  std::uint64_t waiting_bytes() const { return waiting_; }  // not yet handed out by next()

 private:
  struct Waiting {
    proto::TensorId id = 0;
    SharedBytes bytes;
    std::uint64_t sent = 0;
  };
  std::deque<Waiting> uploads_;
  std::uint64_t waiting_ = 0;
  std::uint64_t credit_ = 0;
  std::uint64_t piece_ = 0;  // chunks are this large: never more than the credit can become
};

}  // namespace burn::net
