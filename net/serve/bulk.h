// The two directions of bulk data on one connection: chunks that come in are put where they belong, chunks that go out
// wait for credit. Both keep to the rules of proto/burn.proto and find whoever does not.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "proto/channel.h"
#include "proto/served_session.h"

namespace burn::net {

// Not thread-safe: of the thread that receives frames.
class BulkReceiver {
 public:
  static constexpr std::size_t kMaxIncoming = 1 << 16;  // tensors

  // `credit`: bytes of chunks that the client may have under way.
  explicit BulkReceiver(std::uint64_t credit) : credit_(credit) {}

  // Chunks of tensor `id` will come, in all `bytes`. Null: they are taken and dropped.
  // Errors, each the end of the connection: when that was said before and is not done, or of too many.
  Status announce(proto::TensorId id, std::uint64_t bytes, std::unique_ptr<proto::ServedSession::Upload> upload);
  // Errors, each the end of the connection: a chunk without announcement, out of order, beyond its tensor or the
  // credit.
  Status receive(const proto::Chunk& chunk, std::span<const std::byte> bytes);
  // Where the chunk's bytes may be received before receive() is told of them; null when it will not take them, or in no
  // place.
  std::shared_ptr<std::byte> destination(const proto::Chunk& chunk, std::size_t size);
  // Credit to give to the client now: what was consumed since, once it is worth a frame; else 0.
  std::uint64_t take_grant();

 private:
  struct Incoming {
    std::unique_ptr<proto::ServedSession::Upload> upload;
    std::uint64_t size = 0, received = 0;
  };
  std::unordered_map<proto::TensorId, Incoming> incoming_;
  std::uint64_t credit_;
  std::uint64_t consumed_ = 0;  // and not yet granted again
};

// Thread-safe.
class BulkSender {
 public:
  static constexpr std::uint64_t kMaxCredit = std::uint64_t{1} << 30;  // a client's window is never that large

  BulkSender(proto::Channel& channel, std::uint64_t credit) : channel_(channel), credit_(credit) {}

  // Sends `bytes` as chunks with this key as credit allows, after everything that was added before.
  void add(std::uint64_t key, SharedBytes bytes);
  // Errors: INVALID_ARGUMENT when the client grants more than kMaxCredit.
  Status grant(std::uint64_t bytes);
  void clear();
  std::size_t waiting() const;  // tensors that are not sent in full

 private:
  struct Outgoing {
    std::uint64_t key = 0;
    SharedBytes bytes;
    std::size_t sent = 0;
  };
  void send_what_fits();

  proto::Channel& channel_;
  mutable std::mutex mutex_;
  std::deque<Outgoing> outgoing_;
  std::uint64_t credit_;
};

}  // namespace burn::net
