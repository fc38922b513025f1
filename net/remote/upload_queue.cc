#include "net/remote/upload_queue.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace burn::net {

void UploadQueue::start(std::uint64_t credit) {
  credit_ = credit;
  piece_ = std::min<std::uint64_t>(credit, proto::kChunkBytes);
  total_sent_ = total_granted_ = total_taken_ = 0;
}

void UploadQueue::add(std::uint64_t seq, proto::TensorId id, SharedBytes bytes) {
  waiting_ += bytes.size();
  uploads_.push_back({seq, id, std::move(bytes)});
}

Result<std::uint64_t> UploadQueue::grant(std::uint64_t bytes) {
  if (bytes > kMaxCredit - credit_) {
    return Status{
        StatusCode::out_of_range,
        fmt::format("credit for {} bytes beside {} that are left; at most {} may be", bytes, credit_, kMaxCredit)};
  }
  credit_ += bytes;
  total_granted_ += bytes;
  let_go();
  const auto before = std::exchange(total_taken_, std::min(total_granted_, total_sent_));
  return total_taken_ - before;
}

void UploadQueue::let_go() {
  for (; sent_ > 0 && (!holds_ || uploads_.front().end <= total_granted_); --sent_) uploads_.pop_front();
}

void UploadQueue::add_part(std::uint64_t seq, proto::TensorId id, std::uint64_t offset, SharedBytes bytes) {
  waiting_ += bytes.size();
  waiting_part_bytes_ += bytes.size();
  parts_.push_back({seq, id, offset, std::move(bytes)});
}

// Makes a chunk. Requires: it fits into the credit.
proto::Frame UploadQueue::take(proto::TensorId id, std::uint64_t offset, SharedBytes bytes) {
  credit_ -= bytes.size();
  waiting_ -= bytes.size();
  total_sent_ += bytes.size();
  return {0, proto::Chunk{id, offset}, std::move(bytes)};
}

// Requires: there is a part.
std::optional<proto::Frame> UploadQueue::next_part() {
  auto& [seq, id, offset, bytes] = parts_.front();
  const auto size = std::min<std::uint64_t>(piece_, bytes.size());
  if (size > credit_) return std::nullopt;
  auto frame = take(id, offset, bytes.slice(0, size));
  waiting_part_bytes_ -= size;
  offset += size;
  bytes = bytes.slice(size, bytes.size() - size);
  if (bytes.empty()) parts_.pop_front();
  return frame;
}

std::optional<proto::Frame> UploadQueue::next(std::uint64_t sent_seq) {
  if (!parts_.empty() && parts_.front().seq <= sent_seq) return next_part();
  if (sent_ == uploads_.size()) return std::nullopt;
  Upload& upload = uploads_[sent_];
  const std::uint64_t size = std::min(piece_, upload.bytes.size() - upload.sent);
  if (size > credit_) return std::nullopt;
  auto frame = take(upload.id, upload.sent, upload.bytes.slice(upload.sent, size));
  upload.sent += size;
  if (upload.sent == upload.bytes.size()) {
    upload.end = total_sent_;
    ++sent_;
    if (!holds_) let_go();
  }
  return frame;
}

Status UploadQueue::resume(std::uint64_t credit, std::span<const proto::Chunk> received, std::uint64_t received_seq) {
  std::unordered_map<proto::TensorId, std::uint64_t> offsets;
  for (const auto& chunk : received) offsets.emplace(chunk.key, chunk.offset);
  std::deque<Upload> rest;
  std::uint64_t waiting = 0;
  for (auto& upload : uploads_) {
    if (upload.seq > received_seq) continue;  // sent again with its Write
    const auto found = offsets.find(upload.id);
    if (found == offsets.end()) continue;  // the server has all of it
    if (found->second >= upload.bytes.size()) {
      return invalid_argument(fmt::format("{} bytes of tensor {}, which has {}, and is said not to be whole",
                                          found->second, upload.id, upload.bytes.size()));
    }
    upload.sent = found->second;
    waiting += upload.bytes.size() - upload.sent;
    rest.push_back(std::move(upload));
  }
  uploads_ = std::move(rest);
  waiting_ = waiting;
  sent_ = 0;
  start(credit);
  return {};
}

void UploadQueue::clear() {
  uploads_.clear();
  parts_.clear();
  sent_ = 0;
  waiting_ = waiting_part_bytes_ = 0;
}

}  // namespace burn::net
