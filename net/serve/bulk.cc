#include "net/serve/bulk.h"

#include <algorithm>

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

Status BulkReceiver::receive(const proto::Chunk& chunk, std::span<const std::byte> bytes) {
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
  if (upload) BURN_RETURN_IF_ERROR(upload->fill(chunk.offset, bytes));
  if (received == size) incoming_.erase(found);
  return {};
}

std::shared_ptr<std::byte> BulkReceiver::destination(const proto::Chunk& chunk, std::size_t size) {
  const auto found = incoming_.find(chunk.key);
  if (found == incoming_.end() || size > credit_) return nullptr;
  const auto& incoming = found->second;
  if (!incoming.upload || chunk.offset != incoming.received || size > incoming.size - incoming.received) return nullptr;
  return incoming.upload->destination(chunk.offset, size);
}

std::uint64_t BulkReceiver::take_grant() {
  if (consumed_ < proto::kChunkBytes) return 0;
  credit_ += consumed_;
  return std::exchange(consumed_, 0);
}

void BulkSender::add(std::uint64_t key, SharedBytes bytes) {
  const std::lock_guard lock{mutex_};
  outgoing_.push_back({key, std::move(bytes)});
  send_what_fits();
}

Status BulkSender::grant(std::uint64_t bytes) {
  const std::lock_guard lock{mutex_};
  if (bytes > kMaxCredit - credit_) {
    return invalid_argument(fmt::format("credit for {} bytes; at most {} may be", bytes, kMaxCredit - credit_));
  }
  credit_ += bytes;
  send_what_fits();
  return {};
}

void BulkSender::send_what_fits() {
  while (!outgoing_.empty()) {
    auto& [key, bytes, sent] = outgoing_.front();
    const auto size = std::min(proto::kChunkBytes, bytes.size() - sent);
    if (size > credit_) return;
    channel_.send(proto::encode({0, proto::Chunk{key, sent}, bytes.slice(sent, size)}), proto::Lane::bulk);
    credit_ -= size;
    sent += size;
    if (sent == bytes.size()) outgoing_.pop_front();
  }
}

void BulkSender::clear() {
  std::deque<Outgoing> dropped;  // freed outside the lock
  const std::lock_guard lock{mutex_};
  dropped.swap(outgoing_);
}

std::size_t BulkSender::waiting() const {
  const std::lock_guard lock{mutex_};
  return outgoing_.size();
}

}  // namespace burn::net
