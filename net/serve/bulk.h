// Receives bulk data: stores chunks in their tensors, and detects clients that break the rules of proto/burn.proto.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "proto/message.h"
#include "proto/served_session.h"

namespace burn::net {

// Not thread-safe: used by the thread that receives frames.
class BulkReceiver {
 public:
  static constexpr std::size_t kMaxIncoming = 1 << 16;  // tensors

  // `credit`: bytes of chunks that the client may have in flight.
  explicit BulkReceiver(std::uint64_t credit) : initial_credit_(credit), credit_(credit) {}

  // Announces chunks of tensor `id`, `bytes` in all. `upload` null: the chunks are received and dropped.
  // Errors, each the end of the connection: the tensor is already announced and not complete, or too many are.
  Status announce(proto::TensorId id, std::uint64_t bytes, std::unique_ptr<proto::ServedSession::Upload> upload);
  // Stores a chunk. Errors, each the end of the connection: a chunk without announcement, out of order, beyond its
  // tensor or the credit.
  Status receive(const proto::Chunk& chunk, const SharedBytes& bytes);
  // Memory into which the chunk's bytes may be received before receive() is called with them; null if receive() would
  // refuse the chunk, or the upload offers no memory.
  std::shared_ptr<std::byte> destination(const proto::Chunk& chunk, std::size_t size);
  // Returns the credit to grant to the client now, for bytes consumed since the last grant; 0 until it is worth a
  // frame, or has completed a tensor that the client wants to release. `backlog`: bytes among them for which no credit
  // is granted yet (ServedSession::upload_backlog()).
  std::uint64_t take_grant(std::uint64_t backlog);

  // The client continues over another connection. Returns how much of each incomplete tensor was received. Credit
  // starts from its initial value.
  std::vector<proto::Chunk> restart();

 private:
  struct Incoming {
    std::unique_ptr<proto::ServedSession::Upload> upload;
    std::uint64_t size = 0, received = 0;
  };
  std::unordered_map<proto::TensorId, Incoming> incoming_;
  const std::uint64_t initial_credit_;
  std::uint64_t credit_;
  std::uint64_t consumed_ = 0;              // bytes consumed and not yet granted again
  bool has_received_large_tensor_ = false;  // a tensor of more than a chunk was completed by the bytes in consumed_
};

}  // namespace burn::net
