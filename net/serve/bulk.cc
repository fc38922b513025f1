#include "net/serve/bulk.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace burn::net {

Status BulkReceiver::announce(proto::TensorId id, std::uint64_t bytes,
                              std::unique_ptr<proto::ServedSession::Upload> upload) {
  if (incoming_.size() >= kMaxIncoming) {
    return resource_exhausted(fmt::format("more than {} tensors are announced and have not come", kMaxIncoming));
  }
  if (!incoming_.try_emplace(id, Incoming{std::move(upload), bytes}).second) {
    return invalid_argument(fmt::format("tensor {} is announced while its chunks are still coming", id));
  }
  return {};
}

Status BulkReceiver::receive(const proto::Chunk& chunk, const SharedBytes& bytes) {
  if (bytes.size() > credit_) {
    return resource_exhausted(fmt::format("a chunk of {} bytes with {} bytes of credit left", bytes.size(), credit_));
  }
  const auto found = incoming_.find(chunk.key);
  if (found == incoming_.end())
    return invalid_argument(fmt::format("a chunk of tensor {}, which awaits none", chunk.key));
  auto& [upload, size, received] = found->second;
  if (chunk.offset != received || bytes.size() > size - received) {
    return invalid_argument(fmt::format("a chunk of tensor {} with bytes {} to {}; due is {} of {}", chunk.key,
                                        chunk.offset, chunk.offset + bytes.size(), received, size));
  }
  credit_ -= bytes.size();
  consumed_ += bytes.size();
  received += bytes.size();
  if (upload) BURN_RETURN_IF_ERROR(upload->fill_shared(chunk.offset, bytes));
  if (received < size) return {};
  has_received_large_tensor_ |= size > proto::kChunkBytes;
  incoming_.erase(found);
  return {};
}

std::shared_ptr<std::byte> BulkReceiver::destination(const proto::Chunk& chunk, std::size_t size) {
  const auto found = incoming_.find(chunk.key);
  if (found == incoming_.end() || size > credit_) return nullptr;
  const auto& incoming = found->second;
  if (!incoming.upload || chunk.offset != incoming.received || size > incoming.size - incoming.received) return nullptr;
  return incoming.upload->destination(chunk.offset, size);
}

std::uint64_t BulkReceiver::take_grant(std::uint64_t backlog) {
  const auto grant = consumed_ - std::min(consumed_, backlog);
  if (grant < proto::kChunkBytes && !has_received_large_tensor_) return 0;
  if (grant == consumed_) has_received_large_tensor_ = false;
  credit_ += grant;
  consumed_ -= grant;
  return grant;
}

std::vector<proto::Chunk> BulkReceiver::restart() {
  credit_ = initial_credit_;
  consumed_ = 0;
  has_received_large_tensor_ = false;
  std::vector<proto::Chunk> received;
  received.reserve(incoming_.size());
  for (const auto& [id, incoming] : incoming_) received.push_back({id, incoming.received});
  return received;
}

}  // namespace burn::net
