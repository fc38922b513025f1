// Bulk data that comes in: chunks are put where they belong, and a client that does not keep to the rules of
// proto/burn.proto is found.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "proto/message.h"
#include "proto/served_session.h"

namespace burn::net {

// Not thread-safe: of the thread that receives frames.
class BulkReceiver {
 public:
  static constexpr std::size_t kMaxIncoming = 1 << 16;  // tensors

  // `credit`: bytes of chunks that the client may have under way.
  explicit BulkReceiver(std::uint64_t credit) : initial_credit_(credit), credit_(credit) {}

  // Chunks of tensor `id` will come, in all `bytes`. Null: they are taken and dropped.
  // Errors, each the end of the connection: when that was said before and is not done, or of too many.
  Status announce(proto::TensorId id, std::uint64_t bytes, std::unique_ptr<proto::ServedSession::Upload> upload);
  // Errors, each the end of the connection: a chunk without announcement, out of order, beyond its tensor or the
  // credit.
  Status receive(const proto::Chunk& chunk, const SharedBytes& bytes);
  // Where the chunk's bytes may be received before receive() is told of them; null when it will not take them, or in no
  // place.
  std::shared_ptr<std::byte> destination(const proto::Chunk& chunk, std::size_t size);
  // Credit to give to the client now: what was consumed since, once it is worth a frame, or ends a tensor that the
  // client would like to let go of; else 0. `backlog`: bytes of it for which it gets none yet
  // (ServedSession::upload_backlog()).
  std::uint64_t take_grant(std::uint64_t backlog);

  // The client goes on over another connection: what has come of each tensor that is not whole. Its credit starts anew.
  std::vector<proto::Chunk> restart();

 private:
  struct Incoming {
    std::unique_ptr<proto::ServedSession::Upload> upload;
    std::uint64_t size = 0, received = 0;
  };
  std::unordered_map<proto::TensorId, Incoming> incoming_;
  const std::uint64_t initial_credit_;
  std::uint64_t credit_;
  std::uint64_t consumed_ = 0;        // and not yet granted again
  bool has_ended_large_one_ = false;  // among what is consumed
};

}  // namespace burn::net
